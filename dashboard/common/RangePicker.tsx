// The period of a page. It is part of the URL, so that a link shows the same.

import { Group, SegmentedControl } from "@mantine/core";
import { ranges, type RangeName } from "./format/ranges.ts";

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
