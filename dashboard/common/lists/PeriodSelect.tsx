// Chooses a period: a named one, or any days.

import { Button, Group, NativeSelect, Stack, Text, TextInput } from "@mantine/core";
import { Form } from "../Form.tsx";
import { CalendarRange } from "lucide-react";
import { useState } from "react";
import { dayOf, rangeText, startOfDay } from "../format/days.ts";
import { FormPopover } from "./FormPopover.tsx";
import { useQueryParams } from "./queryParams.ts";
import { commonText } from "../../messages/common.ts";

type Days = { from: number | undefined; to: number | undefined };

export function PeriodSelect({
  label,
  names,
  byDefault,
  chosen,
  days,
  timeZone,
}: {
  label: string;
  names: readonly { value: string; label: string }[];
  /** The URL leaves this one out. */
  byDefault: string;
  chosen: string;
  /** The chosen days; null if a named period is chosen. */
  days: Days | null;
  timeZone: string | undefined;
}) {
  const { change } = useQueryParams();
  return (
    <FormPopover
      label={commonText.timeFilter.chooseDays}
      target={({ open }) => (
        <Group gap="xs" wrap="nowrap">
          <NativeSelect
            aria-label={label}
            leftSection={<CalendarRange size={15} aria-hidden />}
            value={days ? "custom" : chosen}
            onChange={({ currentTarget: { value } }) => {
              if (value === "custom") return open();
              return change({
                range: value === byDefault ? undefined : value,
                from: undefined,
                to: undefined,
              });
            }}
            data={[
              ...names,
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
      )}
    >
      {(close) => (
        <DaysForm
          from={days?.from}
          to={days?.to}
          timeZone={timeZone}
          onDone={(times) => {
            change({ range: undefined, ...times });
            close();
          }}
        />
      )}
    </FormPopover>
  );
}

/** Two days of the calendar. */
function DaysForm({ from, to, timeZone, onDone }: Days & { timeZone: string | undefined; onDone: (times: Days) => void }) {
  const [first, setFirst] = useState(from === undefined ? "" : dayOf(from, timeZone));
  // `to` is the start of the following day.
  const [last, setLast] = useState(to === undefined ? "" : dayOf(to - 1, timeZone));
  const isReversed = first !== "" && last !== "" && first > last;
  return (
    <Form
      onSubmit={() => {
        if (isReversed) return;
        onDone({
          from: first ? startOfDay(first, timeZone) : undefined,
          to: last ? startOfDay(last, timeZone, 1) : undefined,
        });
      }}
    >
      <Stack gap="sm">
        <TextInput
          type="date"
          label={commonText.timeFilter.from}
          value={first}
          onChange={({ currentTarget }) => setFirst(currentTarget.value)}
        />
        <TextInput
          type="date"
          label={commonText.timeFilter.until}
          value={last}
          error={isReversed ? commonText.timeFilter.isReversed : undefined}
          onChange={({ currentTarget }) => setLast(currentTarget.value)}
        />
        <Text size="xs" c="dimmed">
          {timeZone ? commonText.timeFilter.timeZone(timeZone) : commonText.timeFilter.siteTimeZone}
        </Text>
        <Button type="submit">{commonText.show}</Button>
      </Stack>
    </Form>
  );
}
