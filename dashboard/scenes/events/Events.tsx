// The list of events, newest first. A trace opens in a drawer over it.

import { Button, Group } from "@mantine/core";
import { Link, Outlet } from "@tanstack/react-router";
import { ArrowUp, Download, ListTree, SearchX } from "lucide-react";
import { useCallback, useMemo, useState } from "react";
import { Card, Page } from "../../common/Page.tsx";
import { urlOf } from "../../common/api/api.ts";
import { useFeed, type EventSummary } from "../../common/api/feed.ts";
import { usePlatformName } from "../../common/api/platforms.ts";
import { useRows } from "../../common/api/query.ts";
import { useMay, useSiteId } from "../../common/api/session.ts";
import { filterReasonText } from "../../common/format/reasons.ts";
import { hrefOf } from "../../common/links.tsx";
import { RowLink, Rows, useIsNarrow, type Column } from "../../common/lists/Rows.tsx";
import { SelectionBar, useSelection } from "../../common/lists/selection.tsx";
import { OtherMode, TestNotice, TestSwitch, useMode } from "../../common/lists/TestMode.tsx";
import { useQueryParams } from "../../common/lists/queryParams.ts";
import { Empty } from "../../common/states.tsx";
import { Id, Money, TestBadge, Time } from "../../common/values.tsx";
import { RepairLine } from "../integrations/RepairButton.tsx";
import { repairsOf } from "../integrations/repairs.ts";
import { BulkButton } from "../integrations/syncLog/BulkButton.tsx";
import { EventFilters, useEventFilter } from "./EventFilters.tsx";
import { DeliveryDots, marksIn } from "./DeliveryDots.tsx";
import { isUnreleased, Match, tracePath } from "./eventCells.tsx";
import { eventsText } from "../../messages/events.ts";
import { commonText } from "../../messages/common.ts";

export default function Events() {
  const site = useSiteId();
  const { search: address, text } = useQueryParams();
  const { filter, isFiltered } = useEventFilter();
  const list = useRows("GET /sites/:site/events", { params: { site }, query: filter }, { keepRows: true });
  const { rows, waiting, showNew } = useNewEvents(site, list.rows, isFiltered, list.retry);
  const nameOf = usePlatformName();
  const isNarrow = useIsNarrow();
  const [measured, width] = useWidth();
  const slots = marksIn(statusWidth(width ?? 0, isNarrow));
  const mayChange = useMay("admin", site);
  const selection = useSelection(rows, keyOfEvent, nameOfEvent);
  const columns = useMemo(() => {
    const all = columnsOf(site, address, { nameOf, isNarrow, slots });
    return mayChange ? [selection.column, ...all] : all;
  }, [site, address, nameOf, isNarrow, slots, mayChange, selection.column]);
  const repairs = useMemo(() => repairsOf(rows?.flatMap((event) => event.deliveries) ?? [], nameOf), [rows, nameOf]);
  const deliveries = selection.chosen.map(({ id }) => ({ event: id }));
  return (
    <Page
      title={eventsText.title}
      about={eventsText.about}
      actions={
        <>
          <TestSwitch />
          <Button
            component="a"
            href={urlOf("GET /sites/:site/events.csv", { params: { site }, query: filter })}
            download
            variant="default"
            leftSection={<Download size={16} />}
          >
            {commonText.list.csv}
          </Button>
        </>
      }
    >
      <TestNotice />
      <Card padded={false}>
        <div ref={measured} />
        <EventFilters isFiltered={isFiltered} />
        <SelectionBar count={selection.chosen.length} onClear={selection.clear}>
          <BulkButton site={site} filter={{ deliveries }} action="replay" />
          <BulkButton site={site} filter={{ deliveries }} action="cancel" />
        </SelectionBar>
        <RepairLine site={site} repairs={repairs} />
        <NewEvents count={waiting} onClick={showNew} />
        <Rows
          label={eventsText.title}
          virtual
          columns={columns}
          // Rows are rendered once, for the right width.
          rows={width === null ? undefined : rows}
          keyOf={keyOfEvent}
          error={list.error}
          onRetry={list.retry}
          to={({ id }) => ({ to: tracePath(site, id), search: address })}
          more={list.more}
          isLoadingMore={list.isLoadingMore}
          empty={isFiltered ? <NothingFound site={site} search={text("search")} /> : <NothingYet site={site} />}
        />
      </Card>
      <Outlet />
    </Page>
  );
}

const keyOfEvent = ({ id }: EventSummary) => id;
const nameOfEvent = ({ event, orderId }: EventSummary) => (orderId ? `${event} ${orderId}` : event);
const dash = <span className="cc-quiet">–</span>;

/** Returns a ref, and the width of its element: null only before the first paint. */
function useWidth() {
  const [width, setWidth] = useState<number | null>(null);
  const ref = useCallback((element: HTMLElement | null) => {
    if (!element) return undefined;
    const measure = () => setWidth(element.clientWidth);
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return [ref, width] as const;
}

/** The inner width of the last column, which has what the others and the checkboxes leave. */
const statusWidth = (list: number, isNarrow: boolean) => (isNarrow ? (list - 40) / 2 - 16 : 0.35 * list - 40 - 24);

/** Plain elements: a page has fifty rows, and components with styles of their own cost most of the time to show them. */
function columnsOf(site: string, search: Search, shown: Shown): Column<EventSummary>[] {
  const { isNarrow } = shown;
  return [
    {
      title: eventsText.columns.event,
      width: "16%",
      cell: (event) => (
        <>
          <span className="cc-line">
            <RowLink to={tracePath(site, event.id)} search={search}>
              {event.event}
            </RowLink>
            {event.mode === "test" && <TestBadge />}
          </span>
          {isNarrow && (
            <>
              <span className="cc-line cc-small">
                <Money value={event.value} currency={event.currency} />
              </span>
              <span className="cc-line cc-small cc-quiet">
                <Time at={event.receivedAt} />
              </span>
            </>
          )}
        </>
      ),
    },
    {
      title: eventsText.columns.value,
      align: "right",
      wide: true,
      width: "11%",
      cell: ({ value, currency }) => <Money value={value} currency={currency} />,
    },
    {
      title: eventsText.columns.orderId,
      wide: true,
      width: "15%",
      cell: ({ orderId }) => (orderId ? <Id value={orderId} label={eventsText.copy.orderId} /> : dash),
    },
    {
      title: eventsText.columns.received,
      wide: true,
      width: "13%",
      cell: ({ receivedAt }) => <Time at={receivedAt} />,
    },
    {
      title: eventsText.columns.match,
      wide: true,
      width: "10%",
      cell: (event) => <Match event={event} />,
    },
    {
      title: eventsText.status,
      cell: (event) => <Outcome event={event} href={hrefOf(tracePath(site, event.id), search)} shown={shown} />,
    },
  ];
}

type Search = Record<string, unknown>;
type Shown = Omit<Parameters<typeof DeliveryDots>[0], "event" | "href">;

/** The filter reason, or what each platform did. */
function Outcome({ shown, ...row }: { event: EventSummary; href: string; shown: Shown }) {
  const { event, href } = row;
  if (!isUnreleased(event)) return <DeliveryDots {...row} {...shown} />;
  const reasons = event.filterReasons.map(filterReasonText);
  return (
    <a href={href} data-row-link className="cc-line cc-plain" data-tip={reasons.join("\n")}>
      <span className="cc-strong" style={{ flex: "none", color: "var(--cc-warn)" }}>
        {commonText.states.filtered}
      </span>
      <span className="cc-quiet cc-cut">{reasons[0]}</span>
    </a>
  );
}

/** New rows wait for a click, so that the list does not move while it is read. */
function NewEvents({ count, onClick }: { count: number; onClick: () => void }) {
  return (
    <div role="status">
      {count > 0 && (
        <Button fullWidth radius={0} variant="light" size="xs" leftSection={<ArrowUp size={14} />} onClick={onClick}>
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
        <Group gap="xs" justify="center">
          <Button component={Link} to={`/sites/${site}/events`} variant="default">
            {eventsText.showAll}
          </Button>
          <OtherMode />
        </Group>
      }
    >
      {search ? eventsText.nothingFound.search : eventsText.nothingFound.filter}
    </Empty>
  );
}

function NothingYet({ site }: { site: string }) {
  const mayChange = useMay("admin", site);
  const isTest = useMode() === "test";
  return (
    <Empty
      icon={ListTree}
      title={isTest ? commonText.testData.noEvents : eventsText.nothingYet.title}
      action={
        <Group gap="xs" justify="center">
          {mayChange && (
            <>
              <Button component={Link} to={`/sites/${site}/first-conversion`}>
                {eventsText.nothingYet.sendOne}
              </Button>
              {!isTest && (
                <Button component={Link} to={`/sites/${site}/configuration/import`} variant="default">
                  {eventsText.nothingYet.import}
                </Button>
              )}
            </>
          )}
          <OtherMode />
        </Group>
      }
    >
      {isTest ? commonText.testData.sendOne : eventsText.nothingYet.about}
    </Empty>
  );
}

/** More that arrived since the last look are not kept: the list is read again. */
const maxReceived = 500;

/**
 * Handles events that arrive while the list is open: new ones wait for a click, listed ones are updated. The click puts them above
 * the rows, so that a list of many pages is not read again, and stays where it is.
 */
function useNewEvents(site: string, listed: readonly EventSummary[] | undefined, isFiltered: boolean, reload: () => void) {
  const [received, setReceived] = useState<ReadonlyMap<string, EventSummary>>(new Map());
  const [added, setAdded] = useState<readonly EventSummary[]>([]);
  useFeed(site, (event) => setReceived((before) => new Map([...before, [event.id, event] as const].slice(-maxReceived))));
  const mode = useMode();
  // Ids are ordered by time: an event with a smaller id than the first row is not new.
  const newest = listed?.[0]?.id ?? "";
  const rows = useMemo(() => {
    // Only the relay knows whether an event matches the filter.
    const fits = (event: EventSummary) => !isFiltered && event.mode === mode && event.id > newest;
    return listed && [...added.filter(fits), ...listed].map((row) => received.get(row.id) ?? row);
  }, [listed, added, received, isFiltered, mode, newest]);
  const first = rows?.[0]?.id ?? "";
  const waiting = rows && !isFiltered ? [...received.values()].filter((event) => event.mode === mode && event.id > first) : [];
  return {
    /** The rows with their newest states. */
    rows,
    waiting: waiting.length,
    showNew: () => {
      if (received.size < maxReceived)
        return setAdded([...waiting.toSorted((one, other) => (one.id < other.id ? 1 : -1)), ...added]);
      setReceived(new Map());
      setAdded([]);
      reload();
    },
  };
}
