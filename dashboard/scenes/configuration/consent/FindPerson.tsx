// Answers the requests of one person: what is stored, consent, export and erasure.

import { Button, Group, Stack, TextInput, Anchor, Text, Title } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useRef, useState } from "react";
import { flushSync } from "react-dom";
import { Card } from "../../../common/Page.tsx";
import type { Answer } from "../../../common/api/api.ts";
import { send } from "../../../common/api/query.ts";
import { useSiteId } from "../../../common/api/session.ts";
import { useForm } from "../../../common/forms/useForm.ts";
import { reasonText } from "../../../common/format/reasons.ts";
import { RequestError } from "../../../common/states.tsx";
import { Id, Money, State, stateWord, Time } from "../../../common/values.tsx";
import { PersonActions } from "./PersonActions.tsx";
import { configurationText } from "../../../messages/configuration.ts";
import { commonText } from "../../../messages/common.ts";
import { RichText } from "../../../common/format/RichText.tsx";

export function FindPerson() {
  const site = useSiteId();
  const [person, setPerson] = useState<Person | null>(null);
  const result = useRef<HTMLDivElement>(null);
  const find = (email: string) => send("POST /sites/:site/people/find", { params: { site }, body: { email } });
  const form = useForm({
    values: { email: "" },
    save: async (values) => ({ found: await find(values.email.trim()), values }),
    onDone: ({ found, values }) => {
      flushSync(() => {
        setPerson(found);
        form.set("email", values.email);
      });
      // What was found may be below the edge of the window.
      result.current?.scrollIntoView({ block: "nearest" });
    },
  });
  return (
    <Card title={configurationText.person.title} about={configurationText.person.about}>
      <Stack gap={0}>
        <form {...form.props}>
          <Group align="flex-end" gap="xs">
            <TextInput
              {...form.text("email")}
              label={commonText.email}
              placeholder="ada@example.com"
              required
              maxLength={320}
              flex="1 1 200px"
              maw={400}
              autoComplete="off"
              autoCapitalize="none"
              spellCheck={false}
            />
            <Button type="submit" variant="default" loading={form.isPending}>
              {configurationText.person.find}
            </Button>
          </Group>
        </form>
        <RequestError error={form.error} />
        <div aria-live="polite" ref={result}>
          {person && <PersonFound person={person} onChanged={async () => setPerson(await find(person.emailSha256))} />}
        </div>
      </Stack>
    </Card>
  );
}

export type Person = Answer<"POST /sites/:site/people/find">;

function PersonFound({ person, onChanged }: { person: Person; onChanged: () => Promise<unknown> }) {
  const { emailSha256, consent, decisions, visits, events } = person;
  const isKnown = decisions.length + visits.length + events.length > 0;
  return (
    <Stack gap="lg" mt="lg">
      <Group gap="lg">
        <Group gap={6}>
          <Text size="sm" c="dimmed">
            {configurationText.person.hashedEmail}
          </Text>
          <Id value={emailSha256} label={configurationText.person.copyHash} />
        </Group>
        <Group gap={6}>
          <Text size="sm" c="dimmed">
            {configurationText.person.consent}
          </Text>
          <State of={consent} word={configurationText.person.consents[consent]} />
        </Group>
      </Group>
      {!isKnown && <Text size="sm">{configurationText.person.unknown}</Text>}
      <PersonActions person={person} isKnown={isKnown} onChanged={onChanged} />
      {decisions.length > 0 && (
        <Part title={configurationText.person.decisions}>
          {decisions.map(({ givenBy, state, decidedAt }) => (
            <li key={`${givenBy} ${decidedAt}`}>
              <RichText
                text={configurationText.person.decision(
                  stateWord(state),
                  givenBy === "operator" ? configurationText.person.byOperator : configurationText.person.byVisitor(givenBy),
                )}
                tags={{ time: () => <Time at={decidedAt} /> }}
              />
            </li>
          ))}
        </Part>
      )}
      {visits.length > 0 && (
        <Part title={configurationText.person.visits(visits.length)}>
          {visits.map((visit) => (
            <li key={`${visit.seenAt} ${visit.page}`}>
              <Time at={visit.seenAt} /> {visit.page ?? configurationText.person.unknownPage}
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
    ids.length ? configurationText.person.clickIds(ids.join(", ")) : configurationText.person.noClickId,
    utm.length ? configurationText.person.campaign(utm.join(" / ")) : "",
    visit.isBot
      ? visit.reason
        ? configurationText.person.botReason(reasonText(visit.reason))
        : configurationText.person.bot
      : "",
  ].filter(Boolean);
  return <span className="cc-quiet"> – {parts.join("; ")}</span>;
}

function Events({ events }: { events: Person["events"] }) {
  const site = useSiteId();
  return (
    <Part title={configurationText.person.events(events.length)}>
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
