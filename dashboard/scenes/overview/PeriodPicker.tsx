// Chooses the period of the overview: a named one, or any days.

import { Button, Group, NativeSelect, Popover } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { CalendarRange } from "lucide-react";
import { rangeText } from "../../common/format/days.ts";
import { DaysForm } from "../../common/lists/TimeFilter.tsx";
import { useQueryParams } from "../../common/lists/queryParams.ts";
import { commonText } from "../../messages/common.ts";
import { overviewText } from "../../messages/overview.ts";
import { defaultPeriod, periodNames, type ChosenPeriod } from "./periods.ts";

export function PeriodPicker({ chosen, timeZone }: { chosen: ChosenPeriod; timeZone: string | undefined }) {
  const { change } = useQueryParams();
  const [isOpen, { open, close }] = useDisclosure();
  const days = typeof chosen === "object" ? chosen : null;
  return (
    <Popover
      opened={isOpen}
      onChange={(opened) => !opened && close()}
      position="bottom-end"
      trapFocus
      withRoles={false}
    >
      <Popover.Target>
        <Group gap="xs" wrap="nowrap">
          <NativeSelect
            aria-label={overviewText.range}
            leftSection={<CalendarRange size={15} aria-hidden />}
            value={days ? "custom" : (chosen as string)}
            onChange={({ currentTarget: { value } }) => {
              if (value === "custom") return open();
              return change({
                range: value === defaultPeriod ? undefined : value,
                from: undefined,
                to: undefined,
              });
            }}
            data={[
              ...periodNames.map((value) => ({ value, label: overviewText.periods[value] })),
              {
                value: "custom",
                label: days ? rangeText(days.from, days.to, timeZone) : commonText.timeFilter.choose,
              },
            ]}
          />
          {days && (
            <Button variant="subtle" size="compact-sm" onClick={open}>
              {commonText.change}
            </Button>
          )}
        </Group>
      </Popover.Target>
      <Popover.Dropdown role="dialog" aria-label={commonText.timeFilter.chooseDays}>
        <DaysForm
          from={days?.from}
          to={days?.to}
          timeZone={timeZone}
          onDone={(times) => {
            change({ range: undefined, ...times });
            close();
          }}
        />
      </Popover.Dropdown>
    </Popover>
  );
}
