// The exact request for an event, with unsaved changes. Nothing is sent.

import { Alert, Select, Skeleton, Stack, Text, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { CircleSlash, Info } from "lucide-react";
import { useState } from "react";
import { Card } from "../../../common/Page.tsx";
import type { Answer } from "../../../common/api/api.ts";
import { useApi } from "../../../common/api/query.ts";
import { agoText } from "../../../common/format/times.ts";
import { Code } from "../../../common/values.tsx";
import { useSeenEvents } from "./events/EventsForm.tsx";
import { withLabels, type Editor } from "./editor.ts";
import { signInFills } from "./signIn.ts";
import { integrationsText } from "../../../messages/integrations.ts";
import { listText } from "../../../messages/catalogue/plural.ts";
import { serverText } from "../../../messages/server.ts";

/** The event to preview: a sample with a name, or a past event. */
type PreviewedEvent = { name: string } | { event: string };
const usual = "purchase";
/** An event that this connection sends: the preview of any other would only say that it is skipped. */
const firstSent = (selected: readonly string[] | null): string =>
  selected === null || selected.includes(usual) ? usual : (selected[0] ?? usual);
const debounceMs = 400;
const other = "other";

export function Preview({ editor }: { editor: Editor }) {
  const { site, platform, connection, draft, signIn } = editor;
  const [previewed, setPreviewed] = useState<PreviewedEvent>(() => ({
    name: firstSent(draft.events ?? connection?.events ?? null),
  }));
  const body = {
    platform: platform.id,
    ...(connection ? { connection: connection.id } : {}),
    // Leaves out a mapping that is still being typed.
    settings: Object.fromEntries(Object.entries(draft.changes).filter(([, value]) => !["extra.", "const:"].includes(value))),
    ...(draft.events === undefined ? {} : { events: draft.events }),
    ...(signIn ? { signIn } : {}),
    ...previewed,
  };
  const [debounced] = useDebouncedValue(JSON.stringify(body), debounceMs);
  const missing = describeMissing(editor);
  const shown = JSON.parse(debounced) as typeof body;
  const { data, error } = useApi(
    "POST /sites/:site/connections/preview",
    { params: { site }, body: shown },
    // Not requested for an outdated body: its sign-in may have been used meanwhile.
    {
      keepPrevious: true,
      enabled: missing === null && shown.signIn === body.signIn && shown.events?.length !== 0,
    },
  );
  return (
    <Card title={integrationsText.preview.title} about={integrationsText.preview.about}>
      <Stack gap="md">
        <EventField editor={editor} previewed={previewed} onChange={setPreviewed} />
        <div aria-live="polite">
          {missing ? (
            <Alert variant="light" color="gray" icon={<Info size={18} />}>
              {missing}
            </Alert>
          ) : error ? (
            <Alert variant="light" color="gray" icon={<Info size={18} />}>
              {withLabels(error.message, platform)}
            </Alert>
          ) : data ? (
            <PreviewedRequest preview={data} platform={platform} />
          ) : (
            <Skeleton height={220} />
          )}
        </div>
      </Stack>
    </Card>
  );
}

/** Names the settings that a request still needs; null if none. */
function describeMissing({ platform, connection, draft, signIn }: Editor): string | null {
  const isSet = (name: string) =>
    (signIn !== null && signInFills.includes(name)) ||
    Boolean(draft.changes[name] ?? connection?.settings[name] ?? draft.valueOf(name));
  const labelOf = (name: string) => platform.settings.find((one) => one.name === name)?.label ?? name;
  const required = platform.settings.filter((one) => one.required).map(({ name }) => name);
  const [set = []] = platform.requires;
  const isOneSet = platform.requires.length === 0 || platform.requires.some((names) => names.every(isSet));
  const missing = [...required, ...(isOneSet ? [] : set)].filter((name) => !isSet(name));
  if (missing.length > 0) return integrationsText.preview.enter(listText(missing.map(labelOf)));
  return draft.events?.length === 0 ? integrationsText.preview.chooseEvent : null;
}

function PreviewedRequest({
  preview,
  platform,
}: {
  preview: Answer<"POST /sites/:site/connections/preview">;
  platform: Editor["platform"];
}) {
  if (preview.fault)
    return (
      <Alert variant="light" color="gray" icon={<Info size={18} />}>
        {withLabels(serverText(preview.fault.message), platform)}
      </Alert>
    );
  if (!preview.request)
    return (
      <Alert variant="light" color="gray" icon={<CircleSlash size={18} />} title={integrationsText.preview.skipped}>
        {preview.skipped === null ? null : serverText(preview.skipped)}
        {preview.naming && <Text size="sm">{serverText(preview.naming)}</Text>}
      </Alert>
    );
  const { method, url, headers, body } = preview.request;
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return (
    <Stack gap="xs">
      {preview.naming && (
        <Text size="sm" c="dimmed">
          {serverText(preview.naming)}
        </Text>
      )}
      <Code label={integrationsText.preview.request}>{`${method} ${url}\n${lines.join("\n")}`}</Code>
      {body !== null && (
        <Code label={integrationsText.preview.body} wraps={false}>
          {JSON.stringify(body, null, 2)}
        </Code>
      )}
    </Stack>
  );
}

function EventField({
  editor: { site },
  previewed,
  onChange,
}: {
  editor: Editor;
  previewed: PreviewedEvent;
  onChange: (event: PreviewedEvent) => void;
}) {
  const seen = useSeenEvents(site);
  const { data: past } = useApi("GET /sites/:site/events", { params: { site }, query: { limit: 10 } });
  const [isOther, setIsOther] = useState(false);
  const names = [
    ...new Set([...("name" in previewed ? [previewed.name] : []), ...seen, usual, "lead", "sign_up", "refund"]),
  ].slice(0, 12);
  const now = Date.now();
  return (
    <Stack gap="xs">
      <Select
        label={integrationsText.preview.event}
        allowDeselect={false}
        searchable
        value={isOther ? other : "event" in previewed ? `event ${previewed.event}` : `name ${previewed.name}`}
        onChange={(chosen) => {
          setIsOther(chosen === other);
          if (chosen?.startsWith("name ")) onChange({ name: chosen.slice("name ".length) });
          if (chosen?.startsWith("event ")) onChange({ event: chosen.slice("event ".length) });
        }}
        data={[
          {
            group: integrationsText.preview.samples,
            items: names.map((name) => ({
              value: `name ${name}`,
              label: integrationsText.preview.sample(name),
            })),
          },
          {
            group: integrationsText.preview.past,
            items: [
              ...(past?.items ?? []).map(({ id, event, orderId, receivedAt }) => ({
                value: `event ${id}`,
                label: [event, orderId, agoText(receivedAt, now)].filter(Boolean).join(", "),
              })),
              { value: other, label: integrationsText.preview.byId },
            ],
          },
        ]}
      />
      {isOther && (
        <TextInput
          label={integrationsText.preview.eventId}
          defaultValue=""
          onChange={({ currentTarget: { value } }) => value.trim() && onChange({ event: value.trim() })}
          autoComplete="off"
        />
      )}
      <Text size="xs" c="dimmed">
        {"event" in previewed ? integrationsText.preview.asNow : integrationsText.preview.complete}
      </Text>
    </Stack>
  );
}
