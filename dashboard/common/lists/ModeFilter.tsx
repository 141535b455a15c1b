// Live events, test events, or both.

import { NativeSelect } from "@mantine/core";

export function ModeFilter({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  return (
    <NativeSelect
      aria-label="Live or test"
      value={value}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
      data={[
        { value: "", label: "Live and test" },
        { value: "live", label: "Live" },
        { value: "test", label: "Test" },
      ]}
    />
  );
}
