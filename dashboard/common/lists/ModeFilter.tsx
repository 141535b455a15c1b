// Live events, test events, or both.

import { NativeSelect } from "@mantine/core";
import { commonText } from "../../messages/common.ts";

export function ModeFilter({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  return (
    <NativeSelect
      aria-label={commonText.list.mode}
      value={value}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
      data={[
        { value: "", label: commonText.list.liveAndTest },
        { value: "live", label: commonText.list.live },
        { value: "test", label: commonText.list.test },
      ]}
    />
  );
}
