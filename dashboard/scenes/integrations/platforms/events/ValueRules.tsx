// The value that the platform receives in place of the event's own, and what that would have been for the last conversions.

import { Stack, Text, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { Card } from "../../../../common/Page.tsx";
import { useApi } from "../../../../common/api/query.ts";
import { moneyText } from "../../../../common/format/numbers.ts";
import { settingsFor, valueSetting } from "../../../../../src/platforms/valueRules.ts";
import { foldName } from "../../../../../src/platforms/shared/eventNames.ts";
import type { Editor } from "../editor.ts";
import { integrationsText } from "../../../../messages/integrations.ts";

const others = "*";
const debounceMs = 400;
const eventOf = (setting: string) => setting.slice("value.".length);
const isRule = (setting: string) => setting.startsWith("value.");

/** The rule that an event without one follows. */
const inherited = (name: string, { valueOf }: Editor["draft"]): string => settingsFor(name).map(valueOf).find(Boolean) ?? "";

export function ValueRules({ editor, seen }: { editor: Editor; seen: readonly string[] }) {
  const { platform, connection, draft, mayChange } = editor;
  const saved = Object.keys({ ...connection?.settings, ...draft.changes }).filter(isRule);
  const names = new Map<string, string>();
  for (const name of ["purchase", ...seen, ...saved.map(eventOf)])
    if (!names.has(foldName(name))) names.set(foldName(name), name);
  names.delete(others);
  return (
    <Card padded={false} title={integrationsText.values.title} about={integrationsText.values.about(platform.name)}>
      <table className="cc-table">
        <tbody>
          {[...names.values(), others].map((name) => {
            const setting = valueSetting(name);
            const shown = name === others ? integrationsText.values.others : name;
            return (
              <tr key={name}>
                <td style={{ width: "40%", overflowWrap: "anywhere" }}>
                  <span className={name === others ? "" : "cc-mono"}>{shown}</span>
                </td>
                <td>
                  <TextInput
                    aria-label={integrationsText.values.label(shown)}
                    size="xs"
                    value={draft.valueOf(setting)}
                    placeholder={inherited(name, draft) || integrationsText.values.asSent}
                    onChange={({ currentTarget }) => draft.set(setting, currentTarget.value)}
                    error={editor.fault(setting)}
                    disabled={!mayChange}
                    autoComplete="off"
                  />
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
      <Stack p="md" gap="xs">
        <Text size="xs" c="dimmed">
          {integrationsText.values.forms}
        </Text>
        {connection && mayChange && saved.length > 0 && <Totals editor={editor} connection={connection.id} />}
      </Stack>
    </Card>
  );
}

function Totals({ editor: { site, draft }, connection }: { editor: Editor; connection: string }) {
  const changed = Object.entries(draft.changes).filter(([name]) => isRule(name));
  const [values] = useDebouncedValue(
    JSON.stringify(Object.fromEntries(changed.map(([name, rule]) => [eventOf(name), rule]))),
    debounceMs,
  );
  const { data } = useApi(
    "POST /sites/:site/connections/:connection/values/preview",
    { params: { site, connection }, body: { values: JSON.parse(values) as Record<string, string> } },
    { keepPrevious: true },
  );
  return (
    <div aria-live="polite">
      {data && (
        <>
          <Text size="sm">{integrationsText.values.changed(data.changed, data.conversions)}</Text>
          {data.totals.map(({ currency, value, sentValue }) => (
            <Text key={currency} size="sm" fw={500}>
              {integrationsText.values.total(moneyText(sentValue, currency), moneyText(value, currency))}
            </Text>
          ))}
        </>
      )}
    </div>
  );
}
