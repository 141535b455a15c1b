// The filters of the events. They are part of the URL, so that a link shows the same. The relay checks them: a filter that it
// does not know is refused, and never ignored.

import { Button, Group, NativeSelect, NumberInput, Stack, TextInput } from "@mantine/core";
import { Form } from "../../common/Form.tsx";
import { ListFilter, X } from "lucide-react";
import { useState } from "react";
import { deliveryStates } from "../../../src/kernel/event.ts";
import { confirmationStates } from "../../../src/kernel/confirmation.ts";
import type { Input } from "../../common/api/api.ts";
import { usePlatformNames } from "../../common/api/platforms.ts";
import { FilterGroup } from "../../common/lists/FilterGroup.tsx";
import { FormPopover } from "../../common/lists/FormPopover.tsx";
import { SavedViews } from "../../common/lists/SavedViews.tsx";
import { SearchField } from "../../common/lists/SearchField.tsx";
import { useMode } from "../../common/lists/TestMode.tsx";
import { TimeFilter, usePeriod } from "../../common/lists/TimeFilter.tsx";
import { useQueryParams } from "../../common/lists/queryParams.ts";
import { eventsText } from "../../messages/events.ts";
import { commonText } from "../../messages/common.ts";

type EventQuery = NonNullable<Input<"GET /sites/:site/events">["query"]>;

/** The filters behind the button, in the order of its form. */
const others = ["event", "clickId", "source", "campaign", "minValue", "maxValue", "currency", "confirmation"] as const;
type Other = (typeof others)[number];

/** What became of the deliveries is `state`; a link may name it as the status of the event. */
function withState(search: Record<string, string | undefined>): Record<string, string | undefined> {
  const { status, ...given } = search;
  return deliveryStates.some((one) => one === status) ? { state: status, ...given } : search;
}

/** Reads the filter from the URL. */
export function useEventFilter(): { filter: EventQuery; isFiltered: boolean } {
  const { search } = useQueryParams();
  const times = usePeriod();
  const { range: _range, from: _from, to: _to, ...given } = withState(search);
  const filter = { ...times, ...given };
  return {
    filter: { ...filter, mode: useMode() },
    isFiltered: Object.keys(filter).some((name) => name !== "mode"),
  };
}

export function EventFilters({ isFiltered }: { isFiltered: boolean }) {
  const { search, text, change } = useQueryParams();
  const platforms = usePlatformNames() ?? [];
  const known = [
    ...(["accepted", "filtered"] as const).map((one) => ({
      value: `status ${one}`,
      label: eventsText.statuses[one],
    })),
    ...deliveryStates.map((one) => ({ value: `state ${one}`, label: commonText.states[one] })),
  ];
  const { state = "", status = "" } = withState(search);
  const chosenName = state || status;
  const chosen = state ? `state ${state}` : status ? `status ${status}` : "";
  const names = Object.keys(search).filter((name) => name !== "mode");
  const all = Object.fromEntries(names.map((name) => [name, undefined]));
  return (
    <Stack p="md" gap="xs">
      <FilterGroup
        search={<SearchField label={eventsText.search} value={text("search")} onChange={(value) => change({ search: value })} />}
        names={["status", "state", "platform", ...others]}
      >
        <NativeSelect
          aria-label={eventsText.status}
          value={chosen}
          onChange={({ currentTarget: { value } }) => {
            const [kind, one] = value.split(" ");
            change({
              status: kind === "status" ? one : undefined,
              state: kind === "state" ? one : undefined,
            });
          }}
          data={[
            { value: "", label: eventsText.statuses.all },
            ...known,
            ...(chosen === "" || known.some(({ value }) => value === chosen) ? [] : [{ value: chosen, label: chosenName }]),
          ]}
        />
        <NativeSelect
          aria-label={eventsText.filters.platform}
          maw={200}
          value={text("platform")}
          onChange={({ currentTarget }) => change({ platform: currentTarget.value })}
          data={[
            { value: "", label: eventsText.filters.allPlatforms },
            ...platforms.map(({ id, name }) => ({ value: id, label: name })),
          ]}
        />
        <TimeFilter />
        <MoreFilters />
        <SavedViews list="events" />
      </FilterGroup>
      {isFiltered && (
        <Group gap="xs">
          {others.map((name) => (
            <FilterChip key={name} text={describe(name, text(name))} onRemove={() => change({ [name]: undefined })} />
          ))}
          <Button variant="subtle" size="compact-sm" onClick={() => change(all)}>
            {eventsText.filters.clear}
          </Button>
        </Group>
      )}
    </Stack>
  );
}

function describe(name: Other, value: string): string {
  if (!value) return "";
  if (name === "clickId" && value === "none") return eventsText.filters.noClickId;
  const shown = name === "confirmation" ? (confirmationStates.find((one) => one === value) ?? null) : null;
  return commonText.reasonDetail(eventsText.filters.names[name], shown ? commonText.states[shown] : value);
}

function MoreFilters() {
  return (
    <FormPopover
      label={eventsText.filters.more}
      target={({ isOpen, toggle }) => (
        <Button variant="default" leftSection={<ListFilter size={15} aria-hidden />} aria-expanded={isOpen} onClick={toggle}>
          {eventsText.filters.more}
        </Button>
      )}
    >
      {(close) => <FilterForm onDone={close} />}
    </FormPopover>
  );
}

function FilterForm({ onDone }: { onDone: () => void }) {
  const { text, change } = useQueryParams();
  const [draft, setDraft] = useState(() => Object.fromEntries(others.map((name) => [name, text(name)])) as Record<Other, string>);
  const set = (name: Other) => (value: string) => setDraft((before) => ({ ...before, [name]: value }));
  const input = (name: "event" | "clickId" | "source" | "campaign" | "currency", maxLength: number) => (
    <TextInput
      label={eventsText.filters.names[name]}
      value={draft[name]}
      maxLength={maxLength}
      onChange={({ currentTarget }) => set(name)(currentTarget.value)}
    />
  );
  const amount = (name: "minValue" | "maxValue") => (
    <NumberInput
      label={eventsText.filters.names[name]}
      value={draft[name]}
      min={0}
      hideControls
      onChange={(value) => set(name)(String(value))}
    />
  );
  return (
    <Form
      onSubmit={() => {
        const trimmed = Object.entries(draft).map(([name, value]) => [name, value.trim() || undefined]);
        change(Object.fromEntries(trimmed) as Record<string, string | undefined>);
        onDone();
      }}
    >
      <Stack gap="sm" w={272}>
        {input("event", 100)}
        {input("clickId", 50)}
        {input("source", 200)}
        {input("campaign", 200)}
        <Group grow gap="xs">
          {amount("minValue")}
          {amount("maxValue")}
          {input("currency", 3)}
        </Group>
        <NativeSelect
          label={eventsText.filters.names.confirmation}
          value={draft.confirmation}
          onChange={({ currentTarget }) => set("confirmation")(currentTarget.value)}
          data={[
            { value: "", label: eventsText.filters.any },
            ...confirmationStates.map((one) => ({ value: one, label: commonText.states[one] })),
          ]}
        />
        <Button type="submit">{commonText.show}</Button>
      </Stack>
    </Form>
  );
}

/** A filter that can be removed. `text` is blank if the filter is not set. */
function FilterChip({ text, onRemove }: { text: string; onRemove: () => void }) {
  if (!text) return null;
  return (
    <Button
      variant="light"
      size="compact-sm"
      rightSection={<X size={14} aria-hidden />}
      aria-label={eventsText.filters.remove(text)}
      onClick={onRemove}
    >
      {text}
    </Button>
  );
}
