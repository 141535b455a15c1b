// Deliveries as a table: platform, state, reason and replay.

import { Anchor, Button, Stack, Text } from "@mantine/core";
import { Link, useLocation, useParams } from "@tanstack/react-router";
import { Download, History, SearchX } from "lucide-react";
import { Card } from "../../../common/Page.tsx";
import { Actions } from "../../../common/Actions.tsx";
import { urlOf } from "../../../common/api/api.ts";
import { usePlatformName } from "../../../common/api/platforms.ts";
import { useRows } from "../../../common/api/query.ts";
import { useMay } from "../../../common/api/session.ts";
import { RowLink, Rows, useIsNarrow, type Column } from "../../../common/lists/Rows.tsx";
import { SelectionBar, useSelection } from "../../../common/lists/selection.tsx";
import { OtherMode, TestNotice, TestSwitch, useMode } from "../../../common/lists/TestMode.tsx";
import { useQueryParams } from "../../../common/lists/queryParams.ts";
import { PlatformName } from "../../../common/platforms/PlatformMark.tsx";
import { Empty } from "../../../common/states.tsx";
import { Id, State, TestBadge, Time } from "../../../common/values.tsx";
import { ReplayButton } from "../../events/ReplayButton.tsx";
import { isReplayable } from "../../events/eventCells.tsx";
import { ConfirmationInRow } from "../quality/ConfirmationLine.tsx";
import { accountOf, useConnections, usePlatforms } from "../connections.tsx";
import { RepairLink } from "../RepairButton.tsx";
import { repairOfDelivery } from "../repairs.ts";
import { BulkButton } from "./BulkButton.tsx";
import { isFilteredBy, LogFilters, useLogFilter, type LogFilter, type LogLine } from "./LogFilters.tsx";
import { integrationsText } from "../../../messages/integrations.ts";
import { commonText } from "../../../messages/common.ts";
import { serverText } from "../../../messages/server.ts";
import { countText } from "../../../common/format/numbers.ts";

export function LogTable({ site, fixed = {} }: { site: string; fixed?: LogFilter }) {
  const filter = useLogFilter(fixed);
  const list = useRows(
    "GET /sites/:site/deliveries",
    { params: { site }, query: filter },
    { keepRows: true },
  );
  const mayChange = useMay("admin", site);
  const traceOf = useTraceLink();
  const columns = useColumns(site, traceOf, fixed.connection === undefined, mayChange);
  const selection = useSelection(list.rows, keyOfLine, nameOfLine);
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
        <SelectionBar count={chosen.length} onClear={selection.clear}>
          <BulkButton site={site} filter={{ deliveries: chosen }} action="replay" />
          <BulkButton site={site} filter={{ deliveries: chosen }} action="cancel" />
        </SelectionBar>
        <Rows
          virtual
          label={integrationsText.log.title}
          columns={mayChange ? [selection.column, ...columns] : columns}
          rows={list.rows}
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
              <NothingYet />
            )
          }
        />
      </Card>
    </>
  );
}

function NothingYet() {
  const isTest = useMode() === "test";
  return (
    <Empty
      icon={History}
      title={isTest ? commonText.testData.noDeliveries : integrationsText.log.emptyTitle}
      action={<OtherMode />}
    >
      {isTest ? commonText.testData.sendOne : integrationsText.log.empty}
    </Empty>
  );
}

/** Opens the trace in a drawer over this list, which keeps its filters. */
function useTraceLink() {
  const { search } = useQueryParams();
  const { event: open } = useParams({ strict: false }) as { event?: string };
  const { pathname } = useLocation();
  const list = open === undefined ? pathname : pathname.slice(0, -open.length - 1);
  return (event: string) => ({ to: `${list}/${event}`, search });
}

const keyOfLine = (line: LogLine) => `${line.event.id} ${line.connection}`;
const nameOfLine = ({ event, platform }: LogLine) =>
  [event.name, event.orderId, platform].filter(Boolean).join(" ");
const dash = <span className="cc-quiet">–</span>;

function useColumns(
  site: string,
  traceOf: ReturnType<typeof useTraceLink>,
  withPlatform: boolean,
  mayChange: boolean,
): Column<LogLine>[] {
  const connections = useConnections(site).data?.items ?? [];
  const isConnected = (line: LogLine) => connections.some(({ id }) => id === line.connection);
  const repairOf = (line: LogLine) =>
    mayChange && isConnected(line) && !line.event.erased
      ? repairOfDelivery(line, nameOf(line.platform))
      : null;
  const nameOf = usePlatformName();
  const isNarrow = useIsNarrow();
  const columns: Column<LogLine>[] = [
    {
      title: integrationsText.log.columns.event,
      width: "13%",
      cell: (line) => (
        <>
          <span className="cc-line">
            <RowLink {...traceOf(line.event.id)}>{line.event.name}</RowLink>
            {line.event.mode === "test" && <TestBadge />}
          </span>
          {isNarrow && withPlatform && (
            <span className="cc-line cc-small cc-quiet">
              <PlatformName id={line.platform} />
            </span>
          )}
          {isNarrow && (
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
      cell: ({ event: { orderId } }) =>
        orderId ? <Id value={orderId} label={integrationsText.log.copyOrderId} /> : dash,
    },
    ...(withPlatform
      ? [
          {
            title: integrationsText.log.columns.platform,
            wide: true,
            width: "16%",
            cell: (line: LogLine) => <PlatformCell site={site} line={line} />,
          },
        ]
      : []),
    {
      title: integrationsText.log.columns.state,
      cell: (line) => {
        const repair = isNarrow ? repairOf(line) : null;
        return (
          <>
            <StateCell line={line} />
            {repair?.isLikely && <RepairLink site={site} repair={repair} isShort />}
          </>
        );
      },
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
      cell: ({ event }) => <Time at={event.receivedAt} />,
    },
  ];
  if (mayChange)
    columns.push({
      title: integrationsText.log.columns.action,
      wide: true,
      width: "140px",
      cell: (line) => {
        if (!isConnected(line) || line.event.erased) return null;
        // A replay before the repair would have the same end. Afterwards the trace and the selection still offer it.
        const repair = repairOf(line);
        // Most conversions have no click of most platforms: that a click id is missing is no fault to repair in every row.
        if (repair) return repair.isLikely ? <RepairLink site={site} repair={repair} isShort /> : null;
        return (
          isReplayable(line.state, line.reason) && (
            <ReplayButton site={site} eventId={line.event.id} delivery={line} variant="subtle" />
          )
        );
      },
    });
  return columns;
}

function PlatformCell({ site, line }: { site: string; line: LogLine }) {
  const platform = usePlatforms().data?.items.find(({ id }) => id === line.platform);
  const connections = useConnections(site).data?.items ?? [];
  const connection = connections.find(({ id }) => id === line.connection);
  const isOneOfSeveral = connections.filter((one) => one.platform === line.platform).length > 1;
  const isAlone = connection !== undefined && !isOneOfSeveral;
  return (
    <Stack gap={0} {...(isAlone ? { className: "cc-two-lines" } : {})}>
      {connection ? (
        <Anchor
          component={Link}
          to={`/sites/${site}/integrations/${line.platform}`}
          search={{ connection: line.connection } as never}
          size="sm"
          c="inherit"
        >
          <PlatformName id={line.platform} />
        </Anchor>
      ) : (
        <Text size="sm">
          <PlatformName id={line.platform} />
        </Text>
      )}
      {connection && platform && isOneOfSeveral && (
        <Text size="xs" c="dimmed" className="cc-mono">
          {accountOf(platform, connection) ?? connection.id}
        </Text>
      )}
      {!connection && (
        <Text size="xs" c="dimmed">
          {integrationsText.log.disconnected}
        </Text>
      )}
    </Stack>
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
