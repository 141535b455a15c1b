// The list of events, newest first. A trace opens in a drawer over it.

import { Button, Group, NativeSelect, Stack, Text } from "@mantine/core";
import { Link, Outlet } from "@tanstack/react-router";
import { ArrowUp, Download, ListTree, SearchX, X } from "lucide-react";
import { useState } from "react";
import { Card, Page } from "../../common/Page.tsx";
import { urlOf } from "../../common/api/api.ts";
import { useFeed, type EventSummary } from "../../common/api/feed.ts";
import { useRows } from "../../common/api/query.ts";
import { useSiteId } from "../../common/api/session.ts";
import { filterReasonText } from "../../common/format/reasons.ts";
import { TextLink } from "../../common/links.tsx";
import { ModeFilter } from "../../common/lists/ModeFilter.tsx";
import { Rows, type Column } from "../../common/lists/Rows.tsx";
import { SearchField } from "../../common/lists/SearchField.tsx";
import { TimeFilter, usePeriod } from "../../common/lists/TimeFilter.tsx";
import { useQueryParams } from "../../common/lists/queryParams.ts";
import { Empty } from "../../common/states.tsx";
import { Id, Money, TestBadge, Time } from "../../common/values.tsx";
import {
  DeliveryStates,
  EventStatus,
  isUnreleased,
  Match,
  needsAttention,
  tracePath,
  Why,
} from "./eventCells.tsx";
import { eventsText } from "../../messages/events.ts";
import { commonText } from "../../messages/common.ts";

export default function Events() {
  const site = useSiteId();
  const { search: address, text, change } = useQueryParams();
  const times = usePeriod();
  const search = text("search");
  const status = text("status") === "filtered" || text("status") === "accepted" ? text("status") : "";
  const mode = text("mode") === "live" || text("mode") === "test" ? text("mode") : "";
  const [event, clickId] = [text("event"), text("clickId")];
  const filter = {
    ...times,
    ...(search ? { search } : {}),
    ...(status ? { status: status as "accepted" | "filtered" } : {}),
    ...(mode ? { mode: mode as "live" | "test" } : {}),
    ...(event ? { event } : {}),
    ...(clickId ? { clickId } : {}),
  };
  const list = useRows("GET /sites/:site/events", { params: { site }, query: filter }, { keepRows: true });
  const { rows, waiting, showNew } = useNewEvents(
    site,
    list.rows,
    { status, mode, isSearch: [search, event, clickId].some(Boolean), to: times.to },
    list.retry,
  );
  const isFiltered = Object.keys(filter).length > 0;
  return (
    <Page
      title={eventsText.title}
      about={eventsText.about}
      actions={
        <Button
          component="a"
          href={urlOf("GET /sites/:site/events.csv", { params: { site }, query: filter })}
          download
          variant="default"
          leftSection={<Download size={16} />}
        >
          {commonText.list.csv}
        </Button>
      }
    >
      <Card padded={false}>
        <Group p="md" gap="sm" align="flex-start">
          <SearchField
            label={eventsText.search}
            value={search}
            onChange={(value) => change({ search: value })}
          />
          <NativeSelect
            aria-label={eventsText.status}
            value={status}
            onChange={({ currentTarget }) => change({ status: currentTarget.value })}
            data={[
              { value: "", label: eventsText.statuses.all },
              { value: "accepted", label: eventsText.statuses.accepted },
              { value: "filtered", label: eventsText.statuses.filtered },
            ]}
          />
          <ModeFilter value={mode} onChange={(value) => change({ mode: value })} />
          <TimeFilter />
          <FilterChip
            text={event && eventsText.filters.event(event)}
            onRemove={() => change({ event: undefined })}
          />
          <FilterChip
            text={
              clickId &&
              (clickId === "none" ? eventsText.filters.noClickId : eventsText.filters.clickId(clickId))
            }
            onRemove={() => change({ clickId: undefined })}
          />
        </Group>
        <NewEvents count={waiting} onClick={showNew} />
        <Rows
          label={eventsText.title}
          columns={columnsOf(site, address)}
          rows={rows}
          keyOf={({ id }) => id}
          error={list.error}
          onRetry={list.retry}
          to={({ id }) => ({ to: tracePath(site, id), search: address })}
          more={list.more}
          isLoadingMore={list.isLoadingMore}
          empty={isFiltered ? <NothingFound site={site} search={search} /> : <NothingYet site={site} />}
        />
      </Card>
      <Outlet />
    </Page>
  );
}

function columnsOf(site: string, search: Record<string, unknown>): Column<EventSummary>[] {
  return [
    {
      title: eventsText.columns.event,
      cell: (event) => (
        <Stack gap={0} miw={104}>
          <Group gap={8} wrap="nowrap">
            <TextLink
              to={tracePath(site, event.id)}
              search={search}
              fw={500}
              c="inherit"
              style={{ overflowWrap: "anywhere" }}
            >
              {event.event}
            </TextLink>
            {event.mode === "test" && <TestBadge />}
          </Group>
          <Text size="xs" component="span" hiddenFrom="sm">
            <Money value={event.value} currency={event.currency} />
          </Text>
          <Text size="xs" c="dimmed" component="span" hiddenFrom="sm">
            <Time at={event.receivedAt} />
          </Text>
        </Stack>
      ),
    },
    {
      title: eventsText.columns.value,
      align: "right",
      wide: true,
      cell: ({ value, currency }) => (
        <Text size="sm" style={{ whiteSpace: "nowrap" }} component="span">
          <Money value={value} currency={currency} />
        </Text>
      ),
    },
    {
      title: eventsText.columns.orderId,
      wide: true,
      cell: ({ orderId }) =>
        orderId ? (
          <Id value={orderId} label={eventsText.copy.orderId} />
        ) : (
          <span className="cc-quiet">–</span>
        ),
    },
    { title: eventsText.columns.received, wide: true, cell: ({ receivedAt }) => <Time at={receivedAt} /> },
    {
      title: eventsText.columns.match,
      wide: true,
      cell: (event) => <Match site={site} event={event} search={search} />,
    },
    { title: eventsText.status, cell: (event) => <Outcome site={site} event={event} search={search} /> },
  ];
}

/** The filter reason, or the delivery states. */
function Outcome({
  site,
  event,
  search,
}: {
  site: string;
  event: EventSummary;
  search: Record<string, unknown>;
}) {
  const isHeld = isUnreleased(event);
  const hasDeliveries = event.deliveries.length > 0;
  return (
    <Stack gap={0}>
      <Group gap={8} className="cc-states">
        {!(event.status === "accepted" && hasDeliveries) && <EventStatus event={event} />}
        {hasDeliveries && <DeliveryStates event={event} />}
        {(isHeld || needsAttention(event)) && <Why site={site} event={event} search={search} />}
      </Group>
      {event.filterReasons[0] && (
        <Text size="xs" c="dimmed" maw={320} title={event.filterReasons.map(filterReasonText).join("\n")}>
          {filterReasonText(event.filterReasons[0])}
        </Text>
      )}
    </Stack>
  );
}

/** New rows wait for a click, so that the list does not move while it is read. */
function NewEvents({ count, onClick }: { count: number; onClick: () => void }) {
  return (
    <div role="status">
      {count > 0 && (
        <Button
          fullWidth
          radius={0}
          variant="light"
          size="xs"
          leftSection={<ArrowUp size={14} />}
          onClick={onClick}
        >
          {eventsText.showNew(count)}
        </Button>
      )}
    </div>
  );
}

function NothingFound({ site, search }: { site: string; search: string }) {
  return (
    <Empty
      icon={SearchX}
      title={eventsText.nothingFound.title}
      action={
        <Button component={Link} to={`/sites/${site}/events`} variant="default">
          {eventsText.showAll}
        </Button>
      }
    >
      {search ? eventsText.nothingFound.search : eventsText.nothingFound.filter}
    </Empty>
  );
}

function NothingYet({ site }: { site: string }) {
  return (
    <Empty
      icon={ListTree}
      title={eventsText.nothingYet.title}
      action={
        <Button component={Link} to={`/sites/${site}/overview`}>
          {eventsText.nothingYet.action}
        </Button>
      }
    >
      {eventsText.nothingYet.about}
    </Empty>
  );
}

/** A filter that came with a link, and can be removed. `text` is blank if the filter is not set. */
function FilterChip({ text, onRemove }: { text: string; onRemove: () => void }) {
  if (!text) return null;
  return (
    <Button
      variant="light"
      rightSection={<X size={14} aria-hidden />}
      aria-label={eventsText.filters.remove(text)}
      onClick={onRemove}
    >
      {text}
    </Button>
  );
}

type Filter = { status: string; mode: string; isSearch: boolean; to: number | undefined };

/** Handles events that arrive while the list is open: new ones wait for a click, listed ones are updated. */
function useNewEvents(
  site: string,
  rows: readonly EventSummary[] | undefined,
  filter: Filter,
  reload: () => void,
) {
  const [received, setReceived] = useState<ReadonlyMap<string, EventSummary>>(new Map());
  useFeed(site, (event) =>
    setReceived((before) => new Map([...before, [event.id, event]].slice(-500) as never)),
  );
  // Ids are ordered by time: an event with a smaller id than the first row is not new.
  const newest = rows?.[0]?.id ?? "";
  const fits = (event: EventSummary) =>
    !filter.isSearch &&
    (filter.status === "" || event.status === filter.status) &&
    (filter.mode === "" || event.mode === filter.mode) &&
    (filter.to === undefined || event.receivedAt < filter.to) &&
    event.id > newest;
  return {
    /** The rows with their newest states. */
    rows: rows?.map((row) => received.get(row.id) ?? row),
    waiting: rows ? [...received.values()].filter(fits).length : 0,
    showNew: () => {
      reload();
      setReceived(new Map());
    },
  };
}
