// The exact request for an event, with changes that are not saved yet. Nothing is sent.

import { Alert, Select, Skeleton, Stack, Text, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { CircleSlash, Info } from "lucide-react";
import { useState } from "react";
import type { Answer } from "../../common/api.ts";
import { agoText } from "../../common/format.ts";
import { Card } from "../../common/Page.tsx";
import { useApi } from "../../common/query.ts";
import { Code } from "../../common/values.tsx";
import type { Bench } from "./bench.ts";
import { inWords } from "./draft.ts";
import { useSeenEvents } from "./EventsForm.tsx";
import { signInFills } from "./signIn.ts";

/** What is shown: a sample of a name, or a past event. */
type About = { name: string } | { event: string };
const quietMs = 400;
const other = "other";

export function Preview({ bench }: { bench: Bench }) {
  const { site, platform, connection, draft, signIn } = bench;
  const [about, setAbout] = useState<About>({ name: "purchase" });
  const body = {
    platform: platform.id,
    ...(connection ? { connection: connection.id } : {}),
    // A mapping that is still being typed is none yet.
    settings: Object.fromEntries(
      Object.entries(draft.changes).filter(([, value]) => !["extra.", "const:"].includes(value)),
    ),
    ...(draft.events === undefined ? {} : { events: draft.events }),
    ...(signIn ? { signIn } : {}),
    ...about,
  };
  const [asked] = useDebouncedValue(JSON.stringify(body), quietMs);
  const missing = missingOf(bench);
  const shown = JSON.parse(asked) as typeof body;
  const { data, error } = useApi(
    "POST /sites/:site/connections/preview",
    { params: { site }, body: shown },
    // What the last one was made with may be used up by now.
    {
      keep: true,
      enabled: missing === null && shown.signIn === body.signIn && shown.events?.length !== 0,
    },
  );
  return (
    <Card
      title="Preview"
      about="The request as it would go out, with what you changed here. Nothing is sent."
    >
      <Stack gap="md">
        <AboutField bench={bench} about={about} onChange={setAbout} />
        <div aria-live="polite">
          {missing ? (
            <Alert variant="light" color="gray" icon={<Info size={18} />}>
              {missing}
            </Alert>
          ) : error ? (
            <Alert variant="light" color="gray" icon={<Info size={18} />}>
              {inWords(error.message, platform)}
            </Alert>
          ) : data ? (
            <Shown preview={data} platform={platform} />
          ) : (
            <Skeleton height={220} />
          )}
        </div>
      </Stack>
    </Card>
  );
}

/** What has to be there before there can be a request; null when all of it is. */
function missingOf({ platform, connection, draft, signIn }: Bench): string | null {
  const isThere = (name: string) =>
    (signIn !== null && signInFills.includes(name)) ||
    Boolean(draft.changes[name] ?? connection?.settings[name] ?? draft.valueOf(name));
  const labelOf = (name: string) => platform.settings.find((one) => one.name === name)?.label ?? name;
  const required = platform.settings.filter((one) => one.required).map(({ name }) => name);
  const [set = []] = platform.requires;
  const isOneSet = platform.requires.length === 0 || platform.requires.some((names) => names.every(isThere));
  const missing = [...required, ...(isOneSet ? [] : set)].filter((name) => !isThere(name));
  if (missing.length > 0) return `Enter ${missing.map(labelOf).join(" and ")} to see the request.`;
  return draft.events?.length === 0 ? "Choose an event to see the request." : null;
}

function Shown({
  preview,
  platform,
}: {
  preview: Answer<"POST /sites/:site/connections/preview">;
  platform: Bench["platform"];
}) {
  if (preview.fault)
    return (
      <Alert variant="light" color="gray" icon={<Info size={18} />}>
        {inWords(preview.fault.message, platform)}
      </Alert>
    );
  if (!preview.request)
    return (
      <Alert variant="light" color="gray" icon={<CircleSlash size={18} />} title="It would be skipped">
        {preview.skipped}
      </Alert>
    );
  const { method, url, headers, body } = preview.request;
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return (
    <Stack gap="xs">
      <Code label="Request">{`${method} ${url}\n${lines.join("\n")}`}</Code>
      {body !== null && (
        <Code label="Body" wraps={false}>
          {JSON.stringify(body, null, 2)}
        </Code>
      )}
    </Stack>
  );
}

function AboutField({
  bench: { site },
  about,
  onChange,
}: {
  bench: Bench;
  about: About;
  onChange: (about: About) => void;
}) {
  const seen = useSeenEvents(site);
  const { data: past } = useApi("GET /sites/:site/events", { params: { site }, query: { limit: 10 } });
  const [isOther, setIsOther] = useState(false);
  const names = [...new Set([...seen, "purchase", "lead", "sign_up", "refund"])].slice(0, 12);
  const now = Date.now();
  return (
    <Stack gap="xs">
      <Select
        label="Event"
        allowDeselect={false}
        searchable
        value={isOther ? other : "event" in about ? `event ${about.event}` : `name ${about.name}`}
        onChange={(chosen) => {
          setIsOther(chosen === other);
          if (chosen?.startsWith("name ")) onChange({ name: chosen.slice("name ".length) });
          if (chosen?.startsWith("event ")) onChange({ event: chosen.slice("event ".length) });
        }}
        data={[
          {
            group: "Samples",
            items: names.map((name) => ({ value: `name ${name}`, label: `Sample ${name}` })),
          },
          {
            group: "Past events",
            items: [
              ...(past?.items ?? []).map(({ id, event, orderId, receivedAt }) => ({
                value: `event ${id}`,
                label: [event, orderId, agoText(receivedAt, now)].filter(Boolean).join(", "),
              })),
              { value: other, label: "By its event id…" },
            ],
          },
        ]}
      />
      {isOther && (
        <TextInput
          label="Event id"
          defaultValue=""
          onChange={({ currentTarget: { value } }) => value.trim() && onChange({ event: value.trim() })}
          autoComplete="off"
        />
      )}
      <Text size="xs" c="dimmed">
        {"event" in about
          ? "As it would go out now: consent is read again."
          : "Somebody of whom everything is known."}
      </Text>
    </Stack>
  );
}
