// From when until when a list reaches. It stands in the address as `range`, or as `from` and `to` in milliseconds.

import { Button, Group, NativeSelect, Popover, Stack, Text, TextInput } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { CalendarRange } from "lucide-react";
import { useMemo, useState } from "react";
import { useAddress } from "./address.ts";
import { dayOf, rangeText, startOfDay } from "./days.ts";
import { isRange, rangeOf, ranges } from "./ranges.ts";
import { useSite } from "./session.tsx";

/** What the address says, as a query. */
export function useTimes(): { from?: number; to?: number } {
  const { search, time } = useAddress();
  const from = time("from");
  const to = time("to");
  const range = isRange(search["range"]) ? search["range"] : null;
  // Only the start moves with a range: it stays the same until the range is chosen anew.
  const timeZone = useSite()?.timeZone;
  const since = useMemo(() => (range ? rangeOf(range, timeZone).from : undefined), [range, timeZone]);
  if (range) return { from: since as number };
  return { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
}

export function TimeFilter() {
  const { search, time, change } = useAddress();
  const [isOpen, { open, close }] = useDisclosure();
  const timeZone = useSite()?.timeZone;
  const from = time("from");
  const to = time("to");
  const range = isRange(search["range"]) ? search["range"] : null;
  const isOwn = !range && (from !== undefined || to !== undefined);
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
            aria-label="Time"
            leftSection={<CalendarRange size={15} aria-hidden />}
            value={range ?? (isOwn ? "own" : "any")}
            onChange={({ currentTarget: { value } }) => {
              if (value === "own") return open();
              return change({ range: value === "any" ? undefined : value, from: undefined, to: undefined });
            }}
            data={[
              { value: "any", label: "Any time" },
              ...Object.entries(ranges).map(([value, { label }]) => ({ value, label: `Last ${label}` })),
              { value: "own", label: isOwn ? rangeText(from, to, timeZone) : "Choose days…" },
            ]}
          />
          {isOwn && (
            <Button variant="subtle" size="compact-sm" onClick={open}>
              Change
            </Button>
          )}
        </Group>
      </Popover.Target>
      <Popover.Dropdown role="dialog" aria-label="Choose days">
        <Days
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

function Days({
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
  // `to` is where the day after begins.
  const [last, setLast] = useState(to === undefined ? "" : dayOf(to - 1, timeZone));
  const isTurned = first !== "" && last !== "" && first > last;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (isTurned) return;
        onDone({
          from: first ? startOfDay(first, timeZone) : undefined,
          to: last ? startOfDay(last, timeZone, 1) : undefined,
        });
      }}
    >
      <Stack gap="sm">
        <TextInput
          type="date"
          label="From"
          value={first}
          onChange={({ currentTarget }) => setFirst(currentTarget.value)}
        />
        <TextInput
          type="date"
          label="Until, with this day"
          value={last}
          error={isTurned ? "It is before the first day." : undefined}
          onChange={({ currentTarget }) => setLast(currentTarget.value)}
        />
        <Text size="xs" c="dimmed">
          Days of the site's time zone{timeZone ? `, ${timeZone}` : ""}.
        </Text>
        <Button type="submit">Show</Button>
      </Stack>
    </form>
  );
}
