// The period of a list. The URL holds it as `range`, or as `from` and `to` in milliseconds.

import { Button, Group, NativeSelect, Popover, Stack, Text, TextInput } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { CalendarRange } from "lucide-react";
import { useMemo, useState } from "react";
import { useSite } from "../api/session.ts";
import { dayOf, rangeText, startOfDay } from "../format/days.ts";
import { isRange, rangeNames, rangeOf } from "../format/ranges.ts";
import { useQueryParams } from "./queryParams.ts";
import { commonText } from "../../messages/common.ts";

/** Reads the period from the URL, as a query. */
export function usePeriod(): { from?: number; to?: number } {
  const { search, time } = useQueryParams();
  const from = time("from");
  const to = time("to");
  const range = isRange(search["range"]) ? search["range"] : null;
  // The start is computed once per range, so that the list does not move while it is read.
  const timeZone = useSite()?.timeZone;
  const since = useMemo(() => (range ? rangeOf(range, timeZone).from : undefined), [range, timeZone]);
  if (range) return { from: since as number };
  return { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
}

export function TimeFilter() {
  const { search, time, change } = useQueryParams();
  const [isOpen, { open, close }] = useDisclosure();
  const timeZone = useSite()?.timeZone;
  const from = time("from");
  const to = time("to");
  const range = isRange(search["range"]) ? search["range"] : null;
  const isCustom = !range && (from !== undefined || to !== undefined);
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
            aria-label={commonText.timeFilter.label}
            leftSection={<CalendarRange size={15} aria-hidden />}
            value={range ?? (isCustom ? "custom" : "any")}
            onChange={({ currentTarget: { value } }) => {
              if (value === "custom") return open();
              return change({ range: value === "any" ? undefined : value, from: undefined, to: undefined });
            }}
            data={[
              { value: "any", label: commonText.timeFilter.any },
              ...rangeNames.map((value) => ({ value, label: commonText.lastRange[value] })),
              {
                value: "custom",
                label: isCustom ? rangeText(from, to, timeZone) : commonText.timeFilter.choose,
              },
            ]}
          />
          {isCustom && (
            <Button variant="subtle" size="compact-sm" onClick={open}>
              {commonText.change}
            </Button>
          )}
        </Group>
      </Popover.Target>
      <Popover.Dropdown role="dialog" aria-label={commonText.timeFilter.chooseDays}>
        <DaysForm
          from={from}
          to={to}
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

/** Two days of the calendar. */
export function DaysForm({
  from,
  to,
  timeZone,
  onDone,
}: {
  from: number | undefined;
  to: number | undefined;
  timeZone: string | undefined;
  onDone: (times: { from: number | undefined; to: number | undefined }) => void;
}) {
  const [first, setFirst] = useState(from === undefined ? "" : dayOf(from, timeZone));
  // `to` is the start of the following day.
  const [last, setLast] = useState(to === undefined ? "" : dayOf(to - 1, timeZone));
  const isReversed = first !== "" && last !== "" && first > last;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
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
    </form>
  );
}
