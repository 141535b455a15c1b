// The time that a page is about. It stands in the address, so that a link shows the same.

import { Group, SegmentedControl } from "@mantine/core";

export const ranges = {
  "24h": { label: "24 h", ms: 86_400_000, step: "hour" },
  "7d": { label: "7 days", ms: 7 * 86_400_000, step: "day" },
  "30d": { label: "30 days", ms: 30 * 86_400_000, step: "day" },
  "90d": { label: "90 days", ms: 90 * 86_400_000, step: "day" },
} as const;
export type RangeName = keyof typeof ranges;

export const isRange = (text: unknown): text is RangeName => typeof text === "string" && text in ranges;

/** From and to in milliseconds; ends at the next full minute, so that the same question is asked for a minute. */
export function rangeOf(
  name: RangeName,
  now = Date.now(),
): { from: number; to: number; step: "hour" | "day" } {
  const to = Math.ceil(now / 60_000) * 60_000;
  return { from: to - ranges[name].ms, to, step: ranges[name].step };
}

export function RangePicker({ value, onChange }: { value: RangeName; onChange: (value: RangeName) => void }) {
  return (
    <Group gap="xs">
      <SegmentedControl
        size="xs"
        aria-label="Time range"
        value={value}
        onChange={(text) => onChange(text as RangeName)}
        data={Object.entries(ranges).map(([name, { label }]) => ({ value: name, label }))}
      />
    </Group>
  );
}
