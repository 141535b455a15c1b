// The identity and consent steps of a trace.

import { Text } from "@mantine/core";
import { Fingerprint, ScrollText } from "lucide-react";
import { ageText } from "../../common/format/format.ts";
import { TextLink } from "../../common/links.tsx";
import { Id, State } from "../../common/values.tsx";
import type { EventTrace } from "./ReceivedSteps.tsx";
import { Facts, Step } from "./Step.tsx";

type Props = { trace: EventTrace; site: string };

export function IdentityStep({ trace, site }: Props) {
  const { attribution: found } = trace;
  const clickIds = Object.entries(found.clickIds);
  return (
    <Step
      icon={Fingerprint}
      title="Identity"
      state={
        found.identity === "found" ? (
          <State of="accepted" word={clickIds.length > 0 ? "found, with click id" : "found, no click id"} />
        ) : (
          <State of={found.identity === "none" ? "unknown" : "unreadable"} word={found.identity} />
        )
      }
    >
      <Text size="sm" c="dimmed">
        {found.identity === "found"
          ? clickIds.length > 0
            ? "The tag has seen this person before. These ids identify the ad click:"
            : "The tag has seen this person before, but without a recent ad click."
          : found.identity === "none"
            ? "The tag has not seen this person. The event is sent with hashed contact data only."
            : "The identity record could not be read at that moment. The event was sent without click ids."}{" "}
        {found.identity === "none" && (
          <TextLink to={`/sites/${site}/configuration/tag`} underline="always">
            Check the tag
          </TextLink>
        )}
      </Text>
      <Facts
        of={[
          ...clickIds.map(
            ([name, { value, seenAt }]) =>
              [
                name,
                <span key={name}>
                  <Id value={value} label={name} />{" "}
                  <Text span size="sm" c="dimmed">
                    clicked {ageText(trace.time - seenAt)} before
                  </Text>
                </span>,
              ] as const,
          ),
          ...Object.entries(found.browserIds).map(
            ([name, value]) => [name, <Id key={name} value={value} label={name} />] as const,
          ),
          ...Object.entries(found.utm).map(([name, value]) => [name, value] as const),
          ["Page", found.page],
          ["Referrer", found.referrer],
          ["Email, hashed", <Id key="email" value={trace.emailSha256} label="hashed email" />],
          ["Contact data", contactText(trace.contact)],
        ]}
      />
    </Step>
  );
}

const contactNames: Record<string, string> = {
  emailSha256: "email",
  phoneSha256: "phone",
  firstNameSha256: "first name",
  lastNameSha256: "last name",
};

/** An email or phone is also hashed in further forms for some platforms; these are left out. */
const contactText = (contact: string[]) =>
  `${contact.flatMap((name) => contactNames[name] ?? []).join(", ")}, all hashed`;

const consentText = {
  granted: "Consent granted: identifiers are used.",
  denied: "Consent denied.",
  unknown: "No decision recorded.",
  unreadable: "The decision could not be read, which counts as denied.",
} as const;

export function ConsentStep({ trace, site }: Props) {
  const { consent, withheld } = trace.attribution;
  return (
    <Step icon={ScrollText} title="Consent" state={<State of={consent} />}>
      <Text size="sm" c="dimmed">
        {consentText[consent]}{" "}
        {withheld
          ? `Click ids, browser ids and contact data were withheld (${withheld}), and platforms were informed.`
          : consent === "unknown"
            ? "This site uses identifiers unless a person opts out."
            : ""}{" "}
        <TextLink to={`/sites/${site}/configuration/consent`} underline="always">
          Consent & privacy
        </TextLink>
      </Text>
    </Step>
  );
}
