// What would become of a request: one that is kept, or one that is pasted. Nothing is stored or sent.

import { Alert, Select, Skeleton, Stack, Text, Textarea, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { Info } from "lucide-react";
import { useState } from "react";
import { Card } from "../../common/Page.tsx";
import type { Answer, Input } from "../../common/api/api.ts";
import { useApi } from "../../common/api/query.ts";
import { agoText } from "../../common/format/times.ts";
import { State, TestBadge } from "../../common/values.tsx";
import { sourcesText } from "../../messages/sources.ts";
import { KeepRequests, useShapes } from "./FieldPicker.tsx";
import { reasonText, type Source } from "./parts.tsx";

const pasted = "paste";
const debounceMs = 400;
const sampleHeader = "x-shopify-topic:orders/paid";
const sampleBody = JSON.stringify({ customer: { email: "ada@example.com" }, total: 49.9 });

type Outcome = Answer<"POST /sites/:site/sources/:source/preview">["outcomes"][number];

export function RequestPreview({
  site,
  source,
  changes,
  withSwitch = false,
}: {
  site: string;
  source: Source;
  /** Unsaved settings. */
  changes: Readonly<Record<string, string>>;
  /** Shows the switch that keeps whole requests. */
  withSwitch?: boolean;
}) {
  const kept = (useShapes(site, source).data?.items ?? []).filter(({ isKept }) => isKept);
  const [wanted, setWanted] = useState<string | null>(null);
  const [text, setText] = useState("");
  const [headers, setHeaders] = useState("");
  const from = wanted ?? kept[0]?.id ?? pasted;
  const now = Date.now();
  const body = {
    settings: changes,
    ...(from === pasted
      ? { headers: { "content-type": contentTypeOf(text), ...readHeaders(headers) }, body: text }
      : { request: from }),
  };
  const [debounced] = useDebouncedValue(JSON.stringify(body), debounceMs);
  const shown = JSON.parse(debounced) as Input<"POST /sites/:site/sources/:source/preview">["body"];
  const isGiven = from !== pasted || text.trim() !== "";
  const { data, error } = useApi(
    "POST /sites/:site/sources/:source/preview",
    { params: { site, source: source.id }, body: shown },
    { keepPrevious: true, enabled: isGiven && shown.body?.trim() !== "" },
  );
  return (
    <Card title={sourcesText.preview.title} about={sourcesText.preview.about}>
      <Stack gap="md">
        <Select
          label={sourcesText.preview.from}
          allowDeselect={false}
          value={from}
          onChange={setWanted}
          data={[
            ...kept.map(({ id, at, type }) => ({ value: id, label: [type, agoText(at, now)].filter(Boolean).join(", ") })),
            { value: pasted, label: sourcesText.preview.paste },
          ]}
          {...(from === pasted ? {} : { description: sourcesText.preview.masked })}
          inputWrapperOrder={["label", "input", "error", "description"]}
        />
        {from === pasted && (
          <TextInput
            label={sourcesText.preview.headers}
            value={headers}
            onChange={({ currentTarget }) => setHeaders(currentTarget.value)}
            autoComplete="off"
            spellCheck={false}
            maxLength={1000}
            classNames={{ input: "cc-mono" }}
            placeholder={sampleHeader}
          />
        )}
        {from === pasted && (
          <Textarea
            label={sourcesText.preview.body}
            value={text}
            onChange={({ currentTarget }) => setText(currentTarget.value)}
            autosize
            minRows={4}
            maxRows={12}
            spellCheck={false}
            classNames={{ input: "cc-mono" }}
            placeholder={sampleBody}
          />
        )}
        {withSwitch && <KeepRequests site={site} source={source} />}
        <Stack gap="md" aria-live="polite">
          {!isGiven ? (
            <Alert variant="light" color="gray" icon={<Info size={18} />}>
              {sourcesText.preview.nothing}
            </Alert>
          ) : error ? (
            <Alert variant="light" color="gray" icon={<Info size={18} />}>
              {error.message}
            </Alert>
          ) : data ? (
            data.outcomes.map((outcome, i) => <Previewed key={i} outcome={outcome} />)
          ) : (
            <Skeleton height={120} />
          )}
        </Stack>
      </Stack>
    </Card>
  );
}

/** Reads `name: value`, separated by semicolons. */
const readHeaders = (text: string): Record<string, string> =>
  Object.fromEntries(
    text.split(";").flatMap((line) => {
      const [, name, value] = /^\s*([\w-]+):\s*(.+?)\s*$/.exec(line) ?? [];
      return name && value ? [[name.toLowerCase(), value]] : [];
    }),
  );

/** Pasted text is JSON, XML or a form. */
const contentTypeOf = (text: string) =>
  /^\s*[[{]/.test(text) ? "application/json" : /^\s*</.test(text) ? "text/xml" : "application/x-www-form-urlencoded";

function Previewed({ outcome }: { outcome: Outcome }) {
  const fields = Object.entries(outcome.fields);
  return (
    <Stack gap="xs">
      <span className="cc-line" style={{ gap: 8 }}>
        <State
          of={outcome.outcome === "ignored" ? "ignored" : outcome.outcome === "learned" ? "learned" : "accepted"}
          word={sourcesText.preview.outcomes[outcome.outcome]}
        />
        {outcome.type && <span className="cc-mono">{outcome.type}</span>}
        {outcome.mode === "test" && <TestBadge />}
      </span>
      {outcome.reason !== null && (
        <Text size="sm">
          {reasonText(outcome.reason)}
          {outcome.detail ? ` (${outcome.detail})` : ""}
        </Text>
      )}
      {outcome.outcome !== "ignored" && fields.length === 0 && <Text size="sm">{sourcesText.preview.noFields}</Text>}
      {fields.length > 0 && (
        <table className="cc-table" aria-label={sourcesText.preview.fields}>
          <tbody>
            {fields.map(([name, value]) => (
              <tr key={name}>
                <th scope="col" style={{ width: "35%" }}>
                  {name}
                </th>
                <td style={{ overflowWrap: "anywhere" }}>{typeof value === "string" ? value : JSON.stringify(value)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Stack>
  );
}
