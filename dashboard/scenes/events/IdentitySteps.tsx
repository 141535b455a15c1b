// The identity and consent steps of a trace.

import { Text } from "@mantine/core";
import { Fingerprint, ScrollText } from "lucide-react";
import { ageText } from "../../common/format/times.ts";
import { TextLink } from "../../common/links.tsx";
import { Id, State } from "../../common/values.tsx";
import type { EventTrace } from "./ReceivedSteps.tsx";
import { Facts, Step } from "./Step.tsx";
import { eventsText } from "../../messages/events.ts";
import { commonText } from "../../messages/common.ts";
import { serverText } from "../../messages/server.ts";

type Props = { trace: EventTrace; site: string };

export function IdentityStep({ trace, site }: Props) {
  const { attribution: found } = trace;
  const clickIds = Object.entries(found.clickIds);
  return (
    <Step
      icon={Fingerprint}
      title={eventsText.identity.title}
      state={
        found.identity === "found" ? (
          <State
            of="accepted"
            word={clickIds.length > 0 ? eventsText.identity.withClickId : eventsText.identity.withoutClickId}
          />
        ) : (
          <State
            of={found.identity === "none" ? "unknown" : "unreadable"}
            word={found.identity === "none" ? commonText.none : commonText.states.unreadable}
          />
        )
      }
    >
      <Text size="sm" c="dimmed">
        {found.identity === "found"
          ? clickIds.length > 0
            ? eventsText.identity.aboutWithClickId
            : eventsText.identity.aboutWithoutClickId
          : found.identity === "none"
            ? clickIds.length > 0
              ? eventsText.identity.aboutFromSender
              : eventsText.identity.aboutNone
            : eventsText.identity.aboutUnreadable}{" "}
        {found.identity === "none" && (
          <TextLink to={`/sites/${site}/configuration/tag`} underline="always">
            {eventsText.identity.checkTag}
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
                  <Id value={value} label={eventsText.copy.value(name)} />{" "}
                  <Text span size="sm" c="dimmed">
                    {eventsText.identity.clicked(ageText(trace.time - seenAt))}
                  </Text>
                </span>,
              ] as const,
          ),
          ...Object.entries(found.browserIds).map(
            ([name, value]) => [name, <Id key={name} value={value} label={eventsText.copy.value(name)} />] as const,
          ),
          ...Object.entries(found.utm).map(([name, value]) => [name, value] as const),
          [eventsText.identity.page, found.page],
          [eventsText.identity.referrer, found.referrer],
          [eventsText.identity.email, <Id key="email" value={trace.emailSha256} label={eventsText.copy.email} />],
          [eventsText.identity.contact, describeContact(trace.contact)],
        ]}
      />
    </Step>
  );
}

/** An email or phone is also hashed in further forms for some platforms; these are left out. */
function describeContact(contact: readonly string[]): string {
  const names: Readonly<Record<string, string>> = eventsText.contact;
  return eventsText.identity.allHashed(contact.flatMap((name) => names[name] ?? []).join(", "));
}

export function ConsentStep({ trace, site }: Props) {
  const { consent, withheld } = trace.attribution;
  return (
    <Step icon={ScrollText} title={eventsText.consent.title} state={<State of={consent} />}>
      <Text size="sm" c="dimmed">
        {eventsText.consent.states[consent]}{" "}
        {withheld ? eventsText.consent.withheld(serverText(withheld)) : consent === "unknown" ? eventsText.consent.optOut : ""}{" "}
        <TextLink to={`/sites/${site}/configuration/consent`} underline="always">
          {eventsText.consent.settings}
        </TextLink>
      </Text>
    </Step>
  );
}
