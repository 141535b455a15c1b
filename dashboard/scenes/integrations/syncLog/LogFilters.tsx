// The filters of the sync log. They are part of the URL, so that a link shows the same.

import { Button, Group, NativeSelect, Stack, Switch, Text } from "@mantine/core";
import { confirmationStates, type ConfirmationReason, type ConfirmationState } from "../../../../src/kernel/confirmation.ts";
import type { Answer } from "../../../common/api/api.ts";
import { FilterGroup } from "../../../common/lists/FilterGroup.tsx";
import { SavedViews } from "../../../common/lists/SavedViews.tsx";
import { SearchField } from "../../../common/lists/SearchField.tsx";
import { useMode } from "../../../common/lists/TestMode.tsx";
import { TimeFilter, usePeriod } from "../../../common/lists/TimeFilter.tsx";
import { searchOfMode, useQueryParams } from "../../../common/lists/queryParams.ts";
import { accountOf, useConnections, usePlatforms, type Connection, type Platform } from "../connections.tsx";
import { useSeenEvents } from "../platforms/events/EventsForm.tsx";
import { integrationsText } from "../../../messages/integrations.ts";
import { resultsText } from "../../../messages/results.ts";
import { notDelivered } from "../../overview/segments.ts";
import { commonText } from "../../../messages/common.ts";

export function LogFilters({ site, filter, fixed }: { site: string; filter: LogFilter; fixed: LogFilter }) {
  const { search, change } = useQueryParams();
  const seen = useSeenEvents(site);
  const events = filter.event && !seen.includes(filter.event) ? [filter.event, ...seen] : seen;
  const isFiltered = isFilteredBy(filter, fixed);
  const clear = () => {
    const names = Object.keys(search).filter((name) => name !== "mode" && !isOfPage(name, fixed));
    change(Object.fromEntries(names.map((name) => [name, undefined])));
  };
  const withUnselected = filter.unselected === "include";
  return (
    <Stack p="md" gap="xs">
      <FilterGroup
        search={
          <SearchField
            label={integrationsText.log.search}
            value={filter.search ?? ""}
            onChange={(text) => change({ search: text })}
          />
        }
        names={["platform", "connection", "state", "event", "confirmation", "confirmationReason", "unselected"]}
        fixed={fixed}
      >
        {fixed.connection === undefined && <PlatformFilter site={site} filter={filter} />}
        <NativeSelect
          aria-label={integrationsText.log.columns.state}
          value={filter.state ?? ""}
          onChange={({ currentTarget }) => change({ state: currentTarget.value })}
          data={[
            { value: "", label: integrationsText.log.allStates },
            ...deliveryStates.map((state) => ({ value: state, label: commonText.states[state] })),
            { value: "waiting", label: integrationsText.log.waiting },
            { value: notDelivered, label: integrationsText.log.notDelivered },
          ]}
        />
        {events.length > 0 && (
          <NativeSelect
            aria-label={integrationsText.log.columns.event}
            value={filter.event ?? ""}
            onChange={({ currentTarget }) => change({ event: currentTarget.value })}
            data={[{ value: "", label: integrationsText.log.allEvents }, ...events]}
            maw={180}
          />
        )}
        <ConfirmationFilter filter={filter} />
        <TimeFilter />
        <Switch
          mt={8}
          label={integrationsText.log.unselected}
          checked={withUnselected}
          onChange={() => change({ unselected: withUnselected ? undefined : "include" })}
        />
        <SavedViews list="deliveries" />
      </FilterGroup>
      {/* Outside of the group, which is closed on a phone. */}
      {isFiltered && (
        <Group>
          <Button variant="subtle" size="compact-sm" onClick={clear}>
            {integrationsText.log.clear}
          </Button>
        </Group>
      )}
    </Stack>
  );
}

/** True for a list of live and test deliveries, to which counts of both lead. */
const useIsAll = () => useQueryParams().text("mode") === "all";

/** Says that it is one. */
export function AllNotice() {
  const { change } = useQueryParams();
  if (!useIsAll()) return null;
  return (
    <Group gap="xs" role="status">
      <Text size="sm" c="dimmed">
        {integrationsText.log.allModes}
      </Text>
      <Button variant="subtle" size="compact-sm" onClick={() => change(searchOfMode("live"))}>
        {commonText.testData.showLive}
      </Button>
    </Group>
  );
}

/** What the platform said later. A reason is chosen by a link from another page. */
function ConfirmationFilter({ filter }: { filter: LogFilter }) {
  const { change } = useQueryParams();
  const reasons = filter.confirmationReason
    ? [
        {
          value: `reason ${filter.confirmationReason}`,
          label: resultsText.filter.because(resultsText.reasons[filter.confirmationReason]),
        },
      ]
    : [];
  return (
    <NativeSelect
      aria-label={resultsText.filter.label}
      maw={220}
      value={filter.confirmationReason ? `reason ${filter.confirmationReason}` : (filter.confirmation ?? "")}
      onChange={({ currentTarget: { value } }) => change({ confirmation: value, confirmationReason: undefined })}
      data={[
        { value: "", label: resultsText.filter.all },
        ...confirmationStates.map((state) => ({ value: state, label: commonText.states[state] })),
        ...reasons,
      ]}
    />
  );
}

/** A platform, or one of several connections of it. */
function PlatformFilter({ site, filter }: { site: string; filter: LogFilter }) {
  const { change } = useQueryParams();
  const platforms = usePlatforms().data?.items ?? [];
  const connections = useConnections(site).data?.items ?? [];
  const connectionsOf = ({ id }: Platform) => connections.filter(({ platform }) => platform === id);
  const option = (platform: Platform) => ({ value: `platform ${platform.id}`, label: platform.name });
  const single = (platform: Platform, one: Connection) => ({
    value: `connection ${one.id}`,
    label: `${platform.name} · ${accountOf(platform, one) ?? one.id}`,
  });
  const chosen = filter.connection ? `connection ${filter.connection}` : filter.platform ? `platform ${filter.platform}` : "";
  const isSplit = (one: Platform) =>
    connectionsOf(one).length > 1 || connectionsOf(one).some(({ id }) => id === filter.connection);
  const connected = platforms.filter((one) => connectionsOf(one).length > 0);
  const options = [
    ...connected.flatMap((one) => [
      option(one),
      ...(isSplit(one) ? connectionsOf(one).map((connection) => single(one, connection)) : []),
    ]),
    // A deleted connection still has its history.
    ...platforms.filter((one) => connectionsOf(one).length === 0).map(option),
  ];
  const isKnown = chosen === "" || options.some(({ value }) => value === chosen);
  return (
    <NativeSelect
      aria-label={integrationsText.log.columns.platform}
      maw={220}
      value={chosen}
      onChange={({ currentTarget: { value } }) => {
        const [kind, id] = value.split(" ");
        change({
          platform: kind === "platform" ? id : undefined,
          connection: kind === "connection" ? id : undefined,
        });
      }}
      data={[
        { value: "", label: integrationsText.log.allPlatforms },
        ...options,
        ...(isKnown
          ? []
          : [
              {
                value: chosen,
                label: integrationsText.log.connection(filter.connection ?? filter.platform ?? ""),
              },
            ]),
      ]}
    />
  );
}

export type LogLine = Answer<"GET /sites/:site/deliveries">["items"][number];
type DeliveryState = LogLine["state"];

const deliveryStates: readonly DeliveryState[] = ["sent", "queued", "skipped", "rejected", "parked", "expired"];

export type LogFilter = {
  platform?: string;
  connection?: string;
  state?: DeliveryState | "waiting" | typeof notDelivered;
  event?: string;
  confirmation?: ConfirmationState;
  confirmationReason?: ConfirmationReason;
  mode?: LogLine["event"]["mode"];
  search?: string;
  /** Deliveries of events that are not selected are left out unless this is set. */
  unselected?: "include";
  from?: number;
  to?: number;
};

/**
 * Reads the filter from the URL, whatever it has: the relay refuses a name or a value that it does not know. `fixed` is set by
 * the page and takes precedence.
 */
export function useLogFilter(fixed: LogFilter): LogFilter {
  const { search } = useQueryParams();
  const times = usePeriod();
  const { range: _range, from: _from, to: _to, mode: _mode, ...rest } = search;
  const given = Object.fromEntries(Object.entries(rest).filter(([name]) => !isOfPage(name, fixed)));
  const mode = useMode();
  return { ...(given as LogFilter), ...times, ...(useIsAll() ? {} : { mode }), ...fixed };
}

/** Returns true if something is chosen besides what the page sets. Live or test is no filter, but a page of its own. */
export const isFilteredBy = (filter: LogFilter, fixed: LogFilter): boolean =>
  Object.keys(filter).some((name) => name !== "mode" && !(name in fixed));

/** Returns true for a parameter of the platform's page around the log. */
const isOfPage = (name: string, fixed: LogFilter) =>
  name in fixed || (fixed.connection !== undefined && (name === "tab" || name === "signIn"));
