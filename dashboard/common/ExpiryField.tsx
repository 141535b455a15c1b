// The expiry of a key: a few common spans, or a date.

import { Group, Select, TextInput } from "@mantine/core";
import { dayMs } from "../../src/kernel/time.ts";
import { commonText } from "../messages/common.ts";

type Expiry = { span: string; day: string };
export const noExpiry: Expiry = { span: "never", day: "" };

const spans = () => [
  { value: "never", label: commonText.expiry.never },
  { value: "30", label: commonText.expiry.month },
  { value: "90", label: commonText.expiry.quarter },
  { value: "365", label: commonText.expiry.year },
  { value: "day", label: commonText.expiry.day },
];

/** Returns the time of expiry: null for never, undefined while the date is missing. A date means the end of that day. */
export function expiryAt({ span, day }: Expiry, now = Date.now()): number | null | undefined {
  if (span === "never") return null;
  if (span !== "day") return now + Number(span) * dayMs;
  const at = new Date(`${day}T23:59:59`).getTime();
  return Number.isNaN(at) ? undefined : at;
}

export function ExpiryField({
  value,
  onChange,
  fault = null,
}: {
  value: Expiry;
  onChange: (value: Expiry) => void;
  fault?: string | null;
}) {
  const isDay = value.span === "day";
  const tomorrow = new Date(Date.now() + dayMs).toISOString().slice(0, 10);
  return (
    <Group grow align="flex-start" gap="sm">
      <Select
        label={commonText.expiry.label}
        data={spans()}
        value={value.span}
        allowDeselect={false}
        error={isDay ? null : fault}
        onChange={(span) => onChange({ ...value, span: span ?? "never" })}
      />
      {isDay && (
        <TextInput
          type="date"
          label={commonText.expiry.lastDay}
          required
          min={tomorrow}
          value={value.day}
          error={fault}
          onChange={(event) => onChange({ ...value, day: event.currentTarget.value })}
        />
      )}
    </Group>
  );
}
