// Deliveries as a table: platform, state, reason and replay.

import { Button } from "@mantine/core";
import { useLocation } from "@tanstack/react-router";
import { Download, History, RotateCw, SearchX } from "lucide-react";
import { useCallback, useMemo, useState } from "react";
import { flushSync } from "react-dom";
import { Card } from "../../../common/Page.tsx";
import { Actions } from "../../../common/Actions.tsx";
import { urlOf } from "../../../common/api/api.ts";
import { usePlatformName } from "../../../common/api/platforms.ts";
import { useRows } from "../../../common/api/query.ts";
import { useMay } from "../../../common/api/session.ts";
import { TextLink } from "../../../common/links.tsx";
import { RowLink, Rows, useIsNarrow, type Column } from "../../../common/lists/Rows.tsx";
import { SelectionBar, useSelection } from "../../../common/lists/selection.tsx";
import { OtherMode, TestNotice, TestSwitch, useMode } from "../../../common/lists/TestMode.tsx";
import { useQueryParams } from "../../../common/lists/queryParams.ts";
import { PlatformLabel } from "../../../common/platforms/PlatformMark.tsx";
import { Empty } from "../../../common/states.tsx";
import { Id, State, TestBadge, Time } from "../../../common/values.tsx";
import { ReplayDialog } from "../../events/ReplayButton.tsx";
import { isReplayable } from "../../events/eventCells.tsx";
import { ConfirmationInRow } from "../quality/ConfirmationLine.tsx";
import { ConnectAny, accountOf, useConnections, usePlatforms, type Connection } from "../connections.tsx";
import { RepairLine } from "../RepairButton.tsx";
import { repairOfDelivery, repairsOf } from "../repairs.ts";
import { BulkButton } from "./BulkButton.tsx";
import { AllNotice, isFilteredBy, LogFilters, useLogFilter, type LogFilter, type LogLine } from "./LogFilters.tsx";
import { eventsText } from "../../../messages/events.ts";
import { integrationsText } from "../../../messages/integrations.ts";
import { commonText } from "../../../messages/common.ts";
import { serverText } from "../../../messages/server.ts";
import { countText } from "../../../common/format/numbers.ts";

export function LogTable({ site, fixed = {} }: { site: string; fixed?: LogFilter }) {
  const filter = useLogFilter(fixed);
  const list = useRows("GET /sites/:site/deliveries", { params: { site }, query: filter }, { keepRows: true });
  const mayChange = useMay("admin", site);
  const traceOf = useTraceLink();
  const [replayed, setReplayed] = useState<LogLine | null>(null);
  const [isReplaying, setReplaying] = useState(false);
  const replay = useCallback((line: LogLine) => {
    // Mounted before it opens, like other dialogs.
    flushSync(() => setReplayed(line));
    setReplaying(true);
  }, []);
  const rows = useMemo(
    () => list.rows?.map((line, i, all): Row => ({ ...line, isSameEvent: all[i - 1]?.event.id === line.event.id })),
    [list.rows],
  );
  const selection = useSelection<Row>(rows, keyOfLine, nameOfLine);
  const columns = useColumns({
    site,
    traceOf,
    withPlatform: fixed.connection === undefined,
    selection: mayChange ? selection.column : null,
    replay: mayChange ? replay : null,
  });
  const repairs = useRepairs(site, list.rows);
  const chosen = selection.chosen.map(({ event, connection }) => ({ event: event.id, connection }));
  const shown = { ...filter, unselected: filter.unselected ?? ("exclude" as const) };
  const isFiltered = isFilteredBy(filter, fixed);
  const csv = (
    <Button
      component="a"
      href={urlOf("GET /sites/:site/deliveries.csv", { params: { site }, query: filter })}
      download
      variant="default"
      leftSection={<Download size={16} aria-hidden />}
    >
      {commonText.list.csv}
    </Button>
  );
  return (
    <>
      <TestNotice />
      <AllNotice />
      <Card
        padded={false}
        title={integrationsText.log.title}
        actions={
          <>
            <TestSwitch />
            {mayChange ? (
              <Actions>
                <BulkButton site={site} filter={shown} action="replay" isLinked />
                <BulkButton site={site} filter={shown} action="cancel" isLinked />
                {csv}
              </Actions>
            ) : (
              csv
            )}
          </>
        }
      >
        <LogFilters site={site} filter={filter} fixed={fixed} />
        <RepairLine site={site} repairs={repairs} />
        <SelectionBar count={chosen.length} onClear={selection.clear}>
          <BulkButton site={site} filter={{ deliveries: chosen }} action="replay" />
          <BulkButton site={site} filter={{ deliveries: chosen }} action="cancel" />
        </SelectionBar>
        <Rows
          virtual
          label={integrationsText.log.title}
          columns={columns}
          rows={rows}
          keyOf={keyOfLine}
          error={list.error}
          onRetry={list.retry}
          to={({ event }) => traceOf(event.id)}
          more={list.more}
          isLoadingMore={list.isLoadingMore}
          empty={
            isFiltered ? (
              <Empty icon={SearchX} title={integrationsText.log.noMatches} action={<OtherMode />}>
                {integrationsText.log.aboutNoMatches}
              </Empty>
            ) : (
              <NothingYet site={site} />
            )
          }
        />
      </Card>
      {replayed && (
        <ReplayDialog
          site={site}
          eventId={replayed.event.id}
          delivery={replayed}
          isOpen={isReplaying}
          onClose={() => setReplaying(false)}
        />
      )}
    </>
  );
}

function NothingYet({ site }: { site: string }) {
  const isTest = useMode() === "test";
  return (
    <Empty
      icon={History}
      title={isTest ? commonText.testData.noDeliveries : integrationsText.log.emptyTitle}
      action={
        <>
          <ConnectAny site={site} />
          <OtherMode />
        </>
      }
    >
      {isTest ? commonText.testData.sendOne : integrationsText.log.empty}
    </Empty>
  );
}

/**
 * Opens the trace in a drawer over this list, /sites/SITE/integrations/PLATFORM or …/log, which keeps its filters. The function
 * changes with them alone.
 */
function useTraceLink() {
  const { search } = useQueryParams();
  const list = useLocation({ select: ({ pathname }) => pathname.split("/", 5).join("/") });
  return useCallback((event: string) => ({ to: `${list}/${event}`, search }), [list, search]);
}

/** A line and whether the one above is of the same event, whose name and order are then not repeated. */
type Row = LogLine & { isSameEvent: boolean };

const keyOfLine = (line: LogLine) => `${line.event.id} ${line.connection}`;
const nameOfLine = ({ event, platform }: LogLine) => [event.name, event.orderId, platform].filter(Boolean).join(" ");
const dash = <span className="cc-quiet">–</span>;

type Shown = {
  site: string;
  traceOf: ReturnType<typeof useTraceLink>;
  withPlatform: boolean;
  /** Null for who may only read. */
  selection: Column<Row> | null;
  replay: ((line: LogLine) => void) | null;
};

/** The columns stay the same until what they show changes: with new ones, all rows are rendered again. */
function useColumns({ site, traceOf, withPlatform, selection, replay }: Shown): Column<Row>[] {
  const accounts = useAccounts(site);
  const nameOf = usePlatformName();
  const isNarrow = useIsNarrow();
  return useMemo(() => {
    const columns: Column<Row>[] = [
      {
        title: integrationsText.log.columns.event,
        width: "13%",
        cell: (line) => (
          <>
            <span className="cc-line">
              <RowLink {...traceOf(line.event.id)}>
                {line.isSameEvent ? <span className="cc-quiet">{line.event.name}</span> : line.event.name}
              </RowLink>
              {!line.isSameEvent && line.event.mode === "test" && <TestBadge />}
            </span>
            {isNarrow && withPlatform && (
              <span className="cc-line cc-small cc-quiet">
                <PlatformLabel id={line.platform} name={nameOf(line.platform)} />
              </span>
            )}
            {isNarrow && !line.isSameEvent && (
              <span className="cc-line cc-small cc-quiet">
                <Time at={line.event.receivedAt} />
              </span>
            )}
          </>
        ),
      },
      {
        title: integrationsText.log.columns.orderId,
        wide: true,
        width: "15%",
        cell: ({ event: { orderId }, isSameEvent }) =>
          isSameEvent ? null : orderId ? <Id value={orderId} label={integrationsText.log.copyOrderId} /> : dash,
      },
      {
        title: integrationsText.log.columns.state,
        cell: (line) => <StateCell line={line} />,
      },
      {
        title: integrationsText.log.columns.attempts,
        align: "right",
        wide: "lg",
        width: "8%",
        cell: ({ attempts }) => countText(attempts),
      },
      {
        title: integrationsText.log.columns.received,
        wide: true,
        width: "12.5%",
        cell: ({ event, isSameEvent }) => (isSameEvent ? null : <Time at={event.receivedAt} />),
      },
    ];
    if (withPlatform)
      columns.splice(2, 0, {
        title: integrationsText.log.columns.platform,
        wide: true,
        width: "16%",
        cell: (line) => (
          <PlatformCell site={site} line={line} name={nameOf(line.platform)} account={accounts.get(line.connection)} />
        ),
      });
    if (replay)
      columns.push({
        title: integrationsText.log.columns.action,
        wide: true,
        width: "164px",
        cell: (line) => {
          if (!accounts.has(line.connection) || line.event.erased) return null;
          // A replay before the repair would have the same end. Afterwards the trace and the selection still offer it.
          if (repairOfDelivery(line, nameOf(line.platform)) || !isReplayable(line)) return null;
          return (
            <Button
              variant="subtle"
              size="compact-xs"
              leftSection={<RotateCw size={13} aria-hidden />}
              onClick={() => replay(line)}
            >
              {eventsText.replay.label}
            </Button>
          );
        },
      });
    return selection ? [selection, ...columns] : columns;
  }, [site, traceOf, withPlatform, selection, replay, accounts, nameOf, isNarrow]);
}

/** A connection that was removed and a person who was erased cannot be repaired. */
function useRepairs(site: string, lines: readonly LogLine[] | undefined) {
  const accounts = useAccounts(site);
  const nameOf = usePlatformName();
  return useMemo(() => {
    const open = lines?.filter(({ connection, event }) => accounts.has(connection) && !event.erased) ?? [];
    return repairsOf(open, nameOf);
  }, [lines, accounts, nameOf]);
}

type Account = {
  /** The account, where the platform has several connections. */
  name: string | null;
};

/** The connections by id, looked up once for all rows. */
function useAccounts(site: string): ReadonlyMap<string, Account> {
  const platforms = usePlatforms().data?.items;
  const connections = useConnections(site).data?.items;
  return useMemo(() => {
    const isOneOfSeveral = ({ platform }: Connection) =>
      (connections?.filter((one) => one.platform === platform).length ?? 0) > 1;
    const nameOf = (connection: Connection) => {
      const platform = platforms?.find(({ id }) => id === connection.platform);
      return platform && isOneOfSeveral(connection) ? (accountOf(platform, connection) ?? connection.id) : null;
    };
    return new Map(connections?.map((one) => [one.id, { name: nameOf(one) }]));
  }, [platforms, connections]);
}

/** `account` is undefined for a deleted connection. */
function PlatformCell({
  site,
  line,
  name,
  account,
}: {
  site: string;
  line: LogLine;
  name: string;
  account: Account | undefined;
}) {
  const label = <PlatformLabel id={line.platform} name={name} />;
  if (!account)
    return (
      <>
        {label}
        <div className="cc-small cc-quiet">{integrationsText.log.disconnected}</div>
      </>
    );
  return (
    <div>
      <TextLink to={`/sites/${site}/integrations/${line.platform}`} search={{ connection: line.connection }} c="inherit">
        {label}
      </TextLink>
      {account.name !== null && <div className="cc-mono cc-quiet">{account.name}</div>}
    </div>
  );
}

/** The state, and on a second line its reason or what the platform said later. */
function StateCell({ line }: { line: LogLine }) {
  const { state, reason, nextTryAt, confirmation } = line;
  const why = reason === null ? "" : serverText(reason);
  return (
    <>
      <span className="cc-line">
        <State of={state} />
        {nextTryAt !== null && (
          <span className="cc-small cc-quiet cc-cut">
            <Time at={nextTryAt} />
          </span>
        )}
      </span>
      {why ? (
        <span className="cc-line cc-small cc-quiet">
          <span className="cc-cut" data-tip={why}>
            {why}
          </span>
        </span>
      ) : (
        confirmation && <ConfirmationInRow of={confirmation} />
      )}
    </>
  );
}
