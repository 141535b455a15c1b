// Field mapping: fills the platform's fields from ours.

import { ActionIcon, Group, NativeSelect, Stack, Text, TextInput } from "@mantine/core";
import { ArrowRight, RotateCcw } from "lucide-react";
import { utmFields } from "../../../../src/identity/clickIds.ts";
import { Card } from "../../../common/Page.tsx";
import type { Platform } from "../connections.tsx";
import { Fold } from "./SettingsForm.tsx";
import { mapSetting } from "../../../../src/platforms/platform.ts";
import type { Editor } from "./editor.ts";
import { integrationsText } from "../../../messages/integrations.ts";

const eventFields = ["event", "value", "currency", "orderId", "page", "referrer"] as const;
/** Each stands for all items of the event. */
const itemFields = ["items.id", "items.name", "items.category", "items.brand", "items.price", "items.quantity"] as const;
const textSources = ["extra.", "const:"] as const;
const textSourceOf = (source: string) => textSources.find((start) => source.startsWith(start));
const withLabel = (value: (typeof eventFields | typeof itemFields)[number]) => ({
  value,
  label: integrationsText.mapping.sources[value],
});

export function MappingForm({ editor }: { editor: Editor }) {
  const { platform } = editor;
  return (
    <Card
      padded={false}
      title={integrationsText.mapping.title}
      about={platform.fields.length > 0 ? integrationsText.mapping.about(platform.name) : undefined}
    >
      {platform.fields.length === 0 ? (
        <Text size="sm" c="dimmed" px="md" pb="md">
          {integrationsText.mapping.noFields(platform.name)}
        </Text>
      ) : (
        <table className="cc-table">
          <thead>
            <tr>
              <th scope="col">{integrationsText.mapping.yours}</th>
              <th scope="col">{integrationsText.mapping.theirs(platform.name)}</th>
            </tr>
          </thead>
          <tbody>
            {platform.fields.map((field) => (
              <FieldRow key={field.name} editor={editor} field={field} />
            ))}
          </tbody>
        </table>
      )}
      <AutomaticFields platform={platform} />
    </Card>
  );
}

function FieldRow({ editor, field }: { editor: Editor; field: Platform["fields"][number] }) {
  const { draft, mayChange } = editor;
  const setting = mapSetting(field.name);
  const source = draft.valueOf(setting);
  const kind = textSourceOf(source);
  const fault = editor.fault(setting);
  return (
    <tr>
      <td style={{ verticalAlign: "top" }}>
        <Stack gap={4}>
          <Group gap={4} wrap="nowrap">
            <NativeSelect
              aria-label={integrationsText.mapping.yoursFor(field.name)}
              size="xs"
              style={{ flex: 1, minWidth: 108 }}
              value={kind ?? source}
              error={kind ? undefined : fault}
              disabled={!mayChange}
              onChange={({ currentTarget }) => draft.set(setting, currentTarget.value)}
              data={[
                { value: "", label: integrationsText.mapping.notFilled },
                { group: integrationsText.mapping.groups.event, items: eventFields.map(withLabel) },
                { group: integrationsText.mapping.groups.items, items: itemFields.map(withLabel) },
                { group: integrationsText.mapping.groups.utm, items: [...utmFields] },
                {
                  group: integrationsText.mapping.groups.other,
                  items: textSources.map((value) => ({
                    value,
                    label: integrationsText.mapping.textOption(integrationsText.mapping.texts[value]),
                  })),
                },
              ]}
            />
            {source !== "" && mayChange && (
              <ActionIcon
                data-tip={integrationsText.mapping.reset}
                variant="subtle"
                color="gray"
                aria-label={integrationsText.mapping.resetOne(field.name)}
                onClick={() => draft.set(setting, "")}
              >
                <RotateCcw size={14} />
              </ActionIcon>
            )}
          </Group>
          {kind && (
            <TextInput
              size="xs"
              aria-label={integrationsText.mapping.textFor(integrationsText.mapping.texts[kind], field.name)}
              placeholder={kind === "extra." ? integrationsText.mapping.fieldHint : integrationsText.mapping.textHint}
              value={source.slice(kind.length)}
              onChange={({ currentTarget }) => draft.set(setting, `${kind}${currentTarget.value}`)}
              error={fault}
              disabled={!mayChange}
              autoComplete="off"
            />
          )}
        </Stack>
      </td>
      <td style={{ verticalAlign: "top" }}>
        <Group gap="xs" wrap="nowrap" align="flex-start">
          <ArrowRight size={14} aria-hidden className="cc-quiet" style={{ flex: "none", marginTop: 4 }} />
          <div style={{ minWidth: 0 }}>
            <Text className="cc-mono" style={{ overflowWrap: "anywhere" }}>
              {field.name}
            </Text>
            <Text size="xs" c="dimmed">
              {field.help}
              {field.type === "number" && ` ${integrationsText.mapping.isNumber}`}
            </Text>
          </div>
        </Group>
      </td>
    </tr>
  );
}

function AutomaticFields({ platform: { guide } }: { platform: Platform }) {
  if (!guide || guide.sends.length === 0) return null;
  return (
    <Stack p="md" gap="xs">
      <Fold label={integrationsText.mapping.automatic} isOpen={false}>
        <Stack component="dl" gap="xs" m={0}>
          {guide.sends.map(({ field, from }) => (
            <div key={field}>
              <Text component="dt" className="cc-mono" style={{ overflowWrap: "anywhere" }}>
                {field}
              </Text>
              <Text component="dd" size="sm" c="dimmed" m={0}>
                {from}
              </Text>
            </div>
          ))}
        </Stack>
      </Fold>
      {guide.notSent.length > 0 && (
        <Fold label={integrationsText.mapping.notSent} isOpen={false}>
          {guide.notSent.map((text) => (
            <Text key={text} size="sm" c="dimmed">
              {text}
            </Text>
          ))}
        </Fold>
      )}
    </Stack>
  );
}
