// What is known of the person behind an event, and whether it may be used.

import { Text } from "@mantine/core";
import { Fingerprint, ScrollText } from "lucide-react";
import { ageText } from "../../common/format.ts";
import { Id, State } from "../../common/values.tsx";
import type { TraceOf } from "./ReceivedSteps.tsx";
import { Facts, Step } from "./Step.tsx";
import { To } from "../../common/To.tsx";

type Props = { trace: TraceOf; site: string };

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
            ? "The tag saw this person before. These ids tell platforms which click it was:"
            : "The tag saw this person before, but not after a click on an ad that is still fresh enough."
          : found.identity === "none"
            ? "The tag did not see this person on the site. It goes out with the hashed contact data alone."
            : "The record could not be read at that moment. It went out without click ids."}{" "}
        {found.identity === "none" && (
          <To to={`/sites/${site}/configuration/tag`} underline="always">
            Check the tag
          </To>
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
          ["Came from", found.referrer],
          ["Email, hashed", <Id key="email" value={trace.emailSha256} label="hashed email" />],
          ["Contact data", contactText(trace.contact)],
        ]}
      />
    </Step>
  );
}

const contactNames: Record<string, string> = {
  email: "email",
  phone: "phone",
  firstName: "first name",
  lastName: "last name",
};

/** Emails and phones are hashed in the forms that platforms want: those are no further data. */
const contactText = (contact: string[]) =>
  `${contact
    .filter((name) => !/^(email|phone)[A-Z]/.test(name))
    .map((name) => contactNames[name] ?? name)
    .join(", ")}; all of it hashed`;

const consentText = {
  granted: "The person agreed: identifiers may be used.",
  denied: "The person said no.",
  unknown: "No decision is on record.",
  unreadable: "The decision could not be read. That counts as a no.",
} as const;

export function ConsentStep({ trace, site }: Props) {
  const { consent, withheld } = trace.attribution;
  return (
    <Step icon={ScrollText} title="Consent" state={<State of={consent} />}>
      <Text size="sm" c="dimmed">
        {consentText[consent]}{" "}
        {withheld
          ? `Click ids, browser ids and contact data were withheld (${withheld}); platforms were told so.`
          : consent === "unknown"
            ? "This site uses identifiers until somebody opts out."
            : ""}{" "}
        <To to={`/sites/${site}/configuration/consent`} underline="always">
          Consent & privacy
        </To>
      </Text>
    </Step>
  );
}
