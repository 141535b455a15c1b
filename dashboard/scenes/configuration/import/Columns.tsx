// Which column of a file is which field, and what the rows do not say.

import { Alert, List, NativeSelect, Select, SimpleGrid, Stack, Text, TextInput } from "@mantine/core";
import { Info } from "lucide-react";
import { missingFields, type UploadKind } from "../../../../src/kernel/imports.ts";
import { Card } from "../../../common/Page.tsx";
import type { Answer } from "../../../common/api/api.ts";
import { zones } from "../../../common/format/zones.ts";
import { Rows, type Column } from "../../../common/lists/Rows.tsx";
import { importsText } from "../../../messages/imports.ts";
import type { Wish } from "./runImport.ts";

export type FileColumns = Answer<"POST /sites/:site/imports/columns">;

export type Format = {
  /** By field; "" leaves it out. */
  mapping: Readonly<Record<string, string>>;
  event: string;
  currency: string;
  timeZone: string;
  dates: "" | "mdy" | "dmy";
  decimal: "" | "point" | "comma";
};

export const firstFormat = ({ fields }: FileColumns, timeZone: string): Format => ({
  mapping: Object.fromEntries(fields.map(({ name, column }) => [name, column ?? ""])),
  event: "",
  currency: "",
  timeZone,
  dates: "",
  decimal: "",
});

/** The values for rows without one. */
const defaultsOf = (kind: UploadKind, { event, currency }: Format): Record<string, string> =>
  kind === "conversions"
    ? Object.fromEntries(Object.entries({ event: event.trim(), currency: currency.trim() }).filter(([, text]) => text))
    : {};

export function wishOf(kind: UploadKind, format: Format, deliver: string): Wish {
  const { mapping, timeZone, dates, decimal } = format;
  return {
    kind,
    mapping: JSON.stringify(mapping),
    defaults: JSON.stringify(defaultsOf(kind, format)),
    deliver,
    timeZone,
    ...(dates === "" ? {} : { dates }),
    ...(decimal === "" ? {} : { decimal }),
  };
}

export const missingOf = (kind: UploadKind, format: Format) =>
  missingFields(kind, [
    ...Object.entries(format.mapping).flatMap(([name, column]) => (column === "" ? [] : [name])),
    ...Object.keys(defaultsOf(kind, format)),
  ]);

const fieldName = (name: string): string => (importsText.fields as Readonly<Record<string, string>>)[name] ?? name;

type Props = { kind: UploadKind; columns: FileColumns; format: Format; onChange: (format: Format) => void };

export function Columns({ kind, columns, format, onChange }: Props) {
  const texts = importsText.columns;
  const fieldOf = (column: string) => Object.keys(format.mapping).find((name) => format.mapping[name] === column);
  const choose = (column: string, field: string) => {
    const before = fieldOf(column);
    const mapping = {
      ...format.mapping,
      ...(before ? { [before]: "" } : {}),
      ...(field ? { [field]: column } : {}),
    };
    onChange({ ...format, mapping });
  };
  const options = [
    { value: "", label: texts.notImported },
    ...columns.fields.map(({ name }) => ({ value: name, label: fieldName(name) })),
  ];
  const samples = (values: readonly string[]) => values.join(" · ") || texts.noSamples;
  const tableColumns: Column<FileColumns["columns"][number] & { at: number }>[] = [
    {
      title: texts.column,
      cell: ({ name, samples: values }) => (
        <>
          <Text size="sm" fw={500} style={{ overflowWrap: "anywhere" }}>
            {name}
          </Text>
          <Text size="xs" c="dimmed" hiddenFrom="sm" style={{ overflowWrap: "anywhere" }}>
            {samples(values)}
          </Text>
        </>
      ),
    },
    {
      title: texts.samples,
      wide: true,
      cell: ({ samples: values }) => (
        <Text size="sm" c="dimmed" style={{ overflowWrap: "anywhere" }}>
          {samples(values)}
        </Text>
      ),
    },
    {
      title: texts.field,
      cell: ({ name }) => (
        <NativeSelect
          aria-label={texts.fieldOf(name)}
          value={fieldOf(name) ?? ""}
          onChange={({ currentTarget }) => choose(name, currentTarget.value)}
          data={options}
        />
      ),
    },
  ];
  const missing = missingOf(kind, format);
  return (
    <Card title={texts.title} about={texts.about} padded={false}>
      <Rows
        label={texts.title}
        columns={tableColumns}
        // Two columns may have one name.
        rows={columns.columns.map((one, at) => ({ ...one, at }))}
        keyOf={({ at }) => String(at)}
        empty={null}
      />
      <Stack gap="md" p="md">
        <Options kind={kind} format={format} onChange={onChange} />
        <div aria-live="polite">
          {missing.length > 0 && (
            <Alert variant="light" color="yellow" icon={<Info size={18} />} title={importsText.missing.title}>
              <List size="sm">
                {missing.map((field) => (
                  <List.Item key={field}>{importsText.missing[field]}</List.Item>
                ))}
              </List>
            </Alert>
          )}
        </div>
      </Stack>
    </Card>
  );
}

function Options({ kind, format, onChange }: Omit<Props, "columns">) {
  const texts = importsText.options;
  const set = (part: Partial<Format>) => onChange({ ...format, ...part });
  const choices = <Name extends string>(labels: Readonly<Record<Name, string>>) =>
    (Object.keys(labels) as Name[]).map((value) => ({ value, label: labels[value] }));
  return (
    <SimpleGrid cols={{ base: 1, xs: 2, md: 3 }} spacing="md">
      {kind === "conversions" && (
        <>
          <TextInput
            label={texts.event}
            description={texts.aboutEvent}
            placeholder="purchase"
            maxLength={100}
            value={format.event}
            onChange={({ currentTarget }) => set({ event: currentTarget.value })}
          />
          <TextInput
            label={texts.currency}
            description={texts.aboutCurrency}
            maxLength={3}
            value={format.currency}
            onChange={({ currentTarget }) => set({ currency: currentTarget.value })}
          />
        </>
      )}
      <Select
        label={texts.timeZone}
        description={texts.aboutTimeZone}
        searchable
        allowDeselect={false}
        data={zones(format.timeZone)}
        value={format.timeZone}
        onChange={(timeZone) => timeZone && set({ timeZone })}
      />
      <NativeSelect
        label={texts.dates}
        value={format.dates}
        onChange={({ currentTarget }) => set({ dates: currentTarget.value as Format["dates"] })}
        data={choices(texts.dateOrders)}
      />
      {kind === "conversions" && (
        <NativeSelect
          label={texts.decimal}
          value={format.decimal}
          onChange={({ currentTarget }) => set({ decimal: currentTarget.value as Format["decimal"] })}
          data={choices(texts.decimals)}
        />
      )}
    </SimpleGrid>
  );
}
