// Answers the requests of one person: what is stored, consent, export and erasure.

import { Button, Group, Stack, TextInput, Anchor, Text, Title } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { Card } from "../../../common/Page.tsx";
import type { Answer } from "../../../common/api/api.ts";
import { useSend } from "../../../common/api/query.ts";
import { useSiteId } from "../../../common/api/session.ts";
import { fieldError, otherError } from "../../../common/fields.ts";
import { reasonText } from "../../../common/format/reasons.ts";
import { RequestError } from "../../../common/states.tsx";
import { Id, Money, State, Time } from "../../../common/values.tsx";
import { PersonActions } from "./PersonActions.tsx";

export function FindPerson() {
  const site = useSiteId();
  const [email, setEmail] = useState("");
  const find = useSend("POST /sites/:site/people/find");
  const search = (text: string) => find.mutateAsync({ params: { site }, body: { email: text.trim() } });
  return (
    <Card
      title="Find a person"
      about="The email is hashed before the search: plain addresses are never stored. Each search is recorded in the audit log, without the person's identity."
    >
      <Stack gap={0}>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            void search(email).catch(() => {});
          }}
        >
          <Group align="flex-end" gap="xs">
            <TextInput
              label="Email"
              placeholder="ada@example.com"
              required
              maxLength={320}
              flex="1 1 200px"
              maw={400}
              autoComplete="off"
              autoCapitalize="none"
              spellCheck={false}
              value={email}
              error={fieldError(find.error, "email")}
              onChange={(event) => setEmail(event.currentTarget.value)}
            />
            <Button type="submit" variant="default" loading={find.isPending}>
              Find
            </Button>
          </Group>
        </form>
        <RequestError error={otherError(find.error, "email")} />
        <div aria-live="polite">
          {find.data && <PersonFound person={find.data} onChanged={() => search(find.data.emailSha256)} />}
        </div>
      </Stack>
    </Card>
  );
}

export type Person = Answer<"POST /sites/:site/people/find">;

const consentWords: Record<Person["consent"], string> = {
  granted: "agreed",
  denied: "opted out",
  unknown: "no decision",
  unreadable: "unreadable, counts as opted out",
};

function PersonFound({ person, onChanged }: { person: Person; onChanged: () => Promise<unknown> }) {
  const { emailSha256, consent, decisions, visits, events } = person;
  const isKnown = decisions.length + visits.length + events.length > 0;
  return (
    <Stack gap="lg" mt="lg">
      <Group gap="lg">
        <Group gap={6}>
          <Text size="sm" c="dimmed">
            Hashed email
          </Text>
          <Id value={emailSha256} label="hashed email" />
        </Group>
        <Group gap={6}>
          <Text size="sm" c="dimmed">
            Consent
          </Text>
          <State of={consent} word={consentWords[consent]} />
        </Group>
      </Group>
      {!isKnown && <Text size="sm">Nothing is stored about this person on this site.</Text>}
      <PersonActions person={person} isKnown={isKnown} onChanged={onChanged} />
      {decisions.length > 0 && (
        <Part title="Decisions">
          {decisions.map(({ givenBy, state, decidedAt }) => (
            <li key={`${givenBy} ${decidedAt}`}>
              {state} by {givenBy}, <Time at={decidedAt} />
            </li>
          ))}
        </Part>
      )}
      {visits.length > 0 && (
        <Part title={`Visits (${visits.length})`}>
          {visits.map((visit) => (
            <li key={`${visit.seenAt} ${visit.page}`}>
              <Time at={visit.seenAt} /> {visit.page ?? "unknown page"}
              <VisitIds visit={visit} />
            </li>
          ))}
        </Part>
      )}
      {events.length > 0 && <Events events={events} />}
    </Stack>
  );
}

function Part({ title, children }: { title: string; children: React.ReactNode }) {
  return (
    <Stack gap={4}>
      <Title order={3}>{title}</Title>
      <ul style={{ margin: 0, paddingLeft: 20, fontSize: 13, overflowWrap: "anywhere" }}>{children}</ul>
    </Stack>
  );
}

function VisitIds({ visit }: { visit: Person["visits"][number] }) {
  const ids = Object.keys(visit.clickIds);
  const utm = Object.values(visit.utm);
  const parts = [
    ids.length ? `click ids: ${ids.join(", ")}` : "no click id",
    utm.length ? `campaign: ${utm.join(" / ")}` : "",
    visit.isBot ? `classified as a bot${visit.reason ? ` (${reasonText(visit.reason)})` : ""}` : "",
  ].filter(Boolean);
  return <span className="cc-quiet"> – {parts.join("; ")}</span>;
}

function Events({ events }: { events: Person["events"] }) {
  const site = useSiteId();
  return (
    <Part title={`Events (${events.length})`}>
      {events.map(({ id, event, orderId, value, currency, receivedAt }) => (
        <li key={id}>
          <Anchor component={Link} to={`/sites/${site}/events/${id}`} size="sm">
            {event}
            {orderId ? ` ${orderId}` : ""}
          </Anchor>{" "}
          <Money value={value} currency={currency} />, <Time at={receivedAt} />
        </li>
      ))}
    </Part>
  );
}
