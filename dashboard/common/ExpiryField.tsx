// The expiry of a key: a few common spans, or a date.

import { Group, Select, TextInput } from "@mantine/core";
import { dayMs } from "../../src/kernel/time.ts";
import { commonText } from "../messages/common.ts";

type Expiry = { span: string; day: string };
export const noExpiry: Expiry = { span: "never", day: "" };

const spans = (isRequired: boolean) => [
  ...(isRequired ? [] : [{ value: "never", label: commonText.expiry.never }]),
  { value: "30", label: commonText.expiry.month },
  { value: "90", label: commonText.expiry.quarter },
  { value: "365", label: commonText.expiry.year },
  { value: "day", label: commonText.expiry.day },
];

/** The relay's names of the field. */
export const expiryFields = { expires: "expiry", expiresAt: "expiry" } as const;

/** Returns the time of expiry; null for never. A date means the end of that day, and is required. */
export function expiryAt({ span, day }: Expiry, now = Date.now()): number | null {
  if (span === "never") return null;
  return span === "day" ? new Date(`${day}T23:59:59`).getTime() : now + Number(span) * dayMs;
}

export function ExpiryField({
  value,
  onChange,
  error,
  isRequired = false,
}: {
  value: Expiry;
  onChange: (value: Expiry) => void;
  error: string | null;
  /** True where nothing may last forever. */
  isRequired?: boolean;
}) {
  const isDay = value.span === "day";
  const tomorrow = new Date(Date.now() + dayMs).toISOString().slice(0, 10);
  return (
    <Group grow align="flex-start" gap="sm">
      <Select
        label={commonText.expiry.label}
        data={spans(isRequired)}
        value={value.span}
        allowDeselect={false}
        error={isDay ? null : error}
        onChange={(span) => onChange({ ...value, span: span ?? "never" })}
      />
      {isDay && (
        <TextInput
          type="date"
          name="expiry"
          label={commonText.expiry.lastDay}
          required
          min={tomorrow}
          value={value.day}
          error={error}
          onChange={(event) => onChange({ ...value, day: event.currentTarget.value })}
        />
      )}
    </Group>
  );
}
