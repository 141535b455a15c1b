// Field mapping: fills the platform's fields from ours.

import { ActionIcon, Group, NativeSelect, Stack, Table, Text, TextInput, Tooltip } from "@mantine/core";
import { ArrowRight, RotateCcw } from "lucide-react";
import { utmFields } from "../../../../src/identity/clickIds.ts";
import { Card } from "../../../common/Page.tsx";
import type { Platform } from "../connections.tsx";
import { Fold } from "./SettingsForm.tsx";
import { mapSetting } from "../../../../src/platforms/platform.ts";
import { settingFault, type Editor } from "./editor.ts";

const eventFields = [
  { value: "event", label: "Event name" },
  { value: "value", label: "Value" },
  { value: "currency", label: "Currency" },
  { value: "orderId", label: "Order id" },
  { value: "page", label: "Page of the visit" },
  { value: "referrer", label: "Referrer" },
];
/** Each stands for all items of the event. */
const itemFields = [
  { value: "items.id", label: "Ids of the items" },
  { value: "items.name", label: "Names of the items" },
  { value: "items.category", label: "Categories of the items" },
  { value: "items.brand", label: "Brands of the items" },
  { value: "items.price", label: "Price of all items" },
  { value: "items.quantity", label: "Number of pieces" },
];
const textSources = { "extra.": "Another field of the request", "const:": "Fixed text" };
type TextSource = keyof typeof textSources;
const textSourceOf = (source: string) =>
  (Object.keys(textSources) as TextSource[]).find((start) => source.startsWith(start));

export function MappingForm({ editor }: { editor: Editor }) {
  const { platform } = editor;
  return (
    <Card
      padded={false}
      title="Field mapping"
      about={
        platform.fields.length > 0
          ? `Fill fields of ${platform.name} that Cleancast does not fill automatically. The preview shows the result.`
          : undefined
      }
    >
      {platform.fields.length === 0 ? (
        <Text size="sm" c="dimmed" px="md" pb="md">
          {platform.name} has no fields to map: it gets everything that is known of a conversion.
        </Text>
      ) : (
        <Table layout="fixed">
          <Table.Thead>
            <Table.Tr>
              <Table.Th fw={500} c="dimmed" fz="xs">
                Your field
              </Table.Th>
              <Table.Th fw={500} c="dimmed" fz="xs">
                Field of {platform.name}
              </Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {platform.fields.map((field) => (
              <FieldRow key={field.name} editor={editor} field={field} />
            ))}
          </Table.Tbody>
        </Table>
      )}
      <AutomaticFields platform={platform} />
    </Card>
  );
}

function FieldRow({ editor, field }: { editor: Editor; field: Platform["fields"][number] }) {
  const { platform, draft, error, mayChange } = editor;
  const setting = mapSetting(field.name);
  const source = draft.valueOf(setting);
  const kind = textSourceOf(source);
  const fault = settingFault(error, setting, platform);
  return (
    <Table.Tr>
      <Table.Td style={{ verticalAlign: "top" }}>
        <Stack gap={4}>
          <Group gap={4} wrap="nowrap">
            <NativeSelect
              aria-label={`Your field for ${field.name}`}
              size="xs"
              style={{ flex: 1, minWidth: 0 }}
              value={kind ?? source}
              error={kind ? undefined : fault}
              disabled={!mayChange}
              onChange={({ currentTarget }) => draft.set(setting, currentTarget.value)}
              data={[
                { value: "", label: "Not filled" },
                { group: "Event", items: eventFields },
                { group: "Items", items: itemFields },
                { group: "UTM", items: [...utmFields] },
                {
                  group: "Other",
                  items: Object.entries(textSources).map(([value, label]) => ({ value, label: `${label}…` })),
                },
              ]}
            />
            {source !== "" && mayChange && (
              <Tooltip label="Back to default">
                <ActionIcon
                  variant="subtle"
                  color="gray"
                  aria-label={`Reset ${field.name}`}
                  onClick={() => draft.set(setting, "")}
                >
                  <RotateCcw size={14} />
                </ActionIcon>
              </Tooltip>
            )}
          </Group>
          {kind && (
            <TextInput
              size="xs"
              aria-label={`${textSources[kind]} for ${field.name}`}
              placeholder={kind === "extra." ? "name of the field, such as plan" : "text"}
              value={source.slice(kind.length)}
              onChange={({ currentTarget }) => draft.set(setting, `${kind}${currentTarget.value}`)}
              error={fault}
              disabled={!mayChange}
              autoComplete="off"
            />
          )}
        </Stack>
      </Table.Td>
      <Table.Td style={{ verticalAlign: "top" }}>
        <Group gap="xs" wrap="nowrap" align="flex-start">
          <ArrowRight size={14} aria-hidden className="cc-quiet" style={{ flex: "none", marginTop: 4 }} />
          <div style={{ minWidth: 0 }}>
            <Text className="cc-mono" style={{ overflowWrap: "anywhere" }}>
              {field.name}
            </Text>
            <Text size="xs" c="dimmed">
              {field.help}
              {field.type === "number" && " A number."}
            </Text>
          </div>
        </Group>
      </Table.Td>
    </Table.Tr>
  );
}

function AutomaticFields({ platform: { guide } }: { platform: Platform }) {
  if (!guide || guide.sends.length === 0) return null;
  return (
    <Stack p="md" gap="xs">
      <Fold label="Fields filled automatically" isOpen={false}>
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
        <Fold label="Fields that are not sent, and why" isOpen={false}>
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
