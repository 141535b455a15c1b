// A list as a table: loading, empty, error, and more pages. A row that can be opened has a link in its first cell.

import { Box, Button, Center } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import { useNavigate } from "@tanstack/react-router";
import { memo, useCallback, useEffect, useMemo, useRef, type CSSProperties, type MouseEvent, type ReactNode } from "react";
import type { ApiError } from "../api/api.ts";
import { hrefOf } from "../links.tsx";
import { LoadState } from "../states.tsx";
import { useVisibleRows } from "./visibleRows.ts";
import { commonText } from "../../messages/common.ts";

export type Column<Row> = {
  title: string;
  cell: (row: Row) => ReactNode;
  align?: "right";
  /** Left out on a phone, or already below this width. */
  wide?: boolean | "lg";
  /** The width of a virtual list's column, on wide screens. */
  width?: string;
  /** As wide on a phone. */
  narrow?: boolean;
  /** Replaces the title in the head; the title is then for screen readers. */
  head?: ReactNode;
};

type Target = { to: string; search?: Record<string, unknown> };

type Props<Row> = {
  /** Names the table for screen readers. */
  label: string;
  columns: readonly Column<Row>[];
  /** Undefined while they load. */
  rows: readonly Row[] | undefined;
  keyOf: (row: Row) => string;
  empty: ReactNode;
  error?: ApiError | null;
  onRetry?: () => void;
  /** The target of a click on a row; its first cell needs a `RowLink` to the same target, for keyboards. */
  to?: (row: Row) => Target;
  more?: (() => void) | null;
  isLoadingMore?: boolean;
  /** Label of the button that reads on where a page has no matches. */
  searchMore?: string;
  /** Renders only the rows on the screen. All rows have one height, and pages are loaded while scrolling. */
  virtual?: boolean;
};

export function Rows<Row>(props: Props<Row>) {
  const { rows, empty, error = null, onRetry, more = null, isLoadingMore = false } = props;
  if (error || !rows || (rows.length === 0 && !more))
    return <LoadState of={{ data: rows, error, ...(onRetry && { refetch: onRetry }) }} empty={empty} />;
  if (rows.length === 0)
    return (
      <Center p="xl">
        {/* With a rare filter, a page can be empty although older rows match. */}
        <Button variant="default" onClick={() => more?.()} loading={isLoadingMore}>
          {props.searchMore ?? commonText.list.searchOlder}
        </Button>
      </Center>
    );
  return (
    <>
      <Box style={{ overflowX: "auto" }} tabIndex={0} role="region" aria-label={props.label}>
        {props.virtual ? <VirtualTable {...props} rows={rows} /> : <PlainTable {...props} rows={rows} />}
      </Box>
      {more && <More onMore={more} isLoading={isLoadingMore} whenSeen={props.virtual ? rows.length : null} />}
    </>
  );
}

type TableProps<Row> = Props<Row> & { rows: readonly Row[] };

function PlainTable<Row>(props: TableProps<Row>) {
  const { label, columns, rows, keyOf } = props;
  const onClick = useRowClick(props.to);
  return (
    <table className="cc-table" aria-label={label}>
      <Head columns={columns} />
      <tbody>
        {rows.map((row) => (
          <Line key={keyOf(row)} row={row} columns={columns as never} onClick={onClick as never} />
        ))}
      </tbody>
    </table>
  );
}

/** True below the width of wide columns. Lists leave out what would be hidden: it costs as much as what is seen. */
export const useIsNarrow = () => useMediaQuery("(width < 48em)", false, { getInitialValueInEffect: false });

function VirtualTable<Row>(props: TableProps<Row>) {
  const { label, rows, keyOf } = props;
  const isNarrow = useIsNarrow();
  const columns = useMemo(
    () => (isNarrow ? props.columns.filter(({ wide }) => !wide) : props.columns),
    [isNarrow, props.columns],
  );
  const onClick = useRowClick(props.to);
  const [body, { first, last, height }] = useVisibleRows(rows.length, columns);
  return (
    <table className="cc-table" data-virtual aria-label={label} aria-rowcount={rows.length + 1}>
      <Head columns={columns} />
      <tbody ref={body}>
        {first > 0 && <Spacer height={first * height} />}
        {rows.slice(first, last).map((row, i) => (
          <Line key={keyOf(row)} row={row} index={first + i + 2} columns={columns as never} onClick={onClick as never} />
        ))}
        {last < rows.length && <Spacer height={(rows.length - last) * height} />}
      </tbody>
    </table>
  );
}

const Spacer = ({ height }: { height: number }) => (
  <tr aria-hidden style={{ height }}>
    <td />
  </tr>
);

const classOf = (wide: boolean | "lg" | undefined) => (wide ? `mantine-visible-from-${wide === true ? "sm" : wide}` : undefined);

function Head<Row>({ columns }: { columns: readonly Column<Row>[] }) {
  return (
    <thead>
      <tr>
        {columns.map(({ title, align, wide, width, narrow, head }) => (
          <th
            key={title}
            scope="col"
            className={classOf(wide)}
            data-align={align}
            data-narrow={narrow}
            style={width === undefined ? undefined : ({ "--cc-width": width } as CSSProperties)}
          >
            {head ?? title}
          </th>
        ))}
      </tr>
    </thead>
  );
}

type LineProps = {
  row: unknown;
  index?: number;
  columns: readonly Column<unknown>[];
  onClick: ((event: MouseEvent<HTMLTableRowElement>, row: unknown) => void) | undefined;
};

const Line = memo(function Line({ row, index, columns, onClick }: LineProps) {
  return (
    <tr className={onClick ? "cc-row" : undefined} aria-rowindex={index} onClick={onClick && ((event) => onClick(event, row))}>
      {columns.map(({ title, cell, align, wide }) => (
        <td key={title} className={classOf(wide)} data-align={align}>
          {cell(row)}
        </td>
      ))}
    </tr>
  );
});

/** Opens a row. The function stays the same, so that rows are not rendered again. */
function useRowClick<Row>(to: ((row: Row) => Target) | undefined) {
  const navigate = useNavigate();
  const current = useRef({ to, navigate });
  useEffect(() => {
    current.current = { to, navigate };
  });
  const onClick = useCallback((event: MouseEvent<HTMLTableRowElement>, row: Row) => {
    const clicked = event.target as Element;
    const isRowLink = clicked.closest("a")?.hasAttribute("data-row-link") === true;
    const opensTab = event.metaKey || event.ctrlKey || event.shiftKey || event.altKey;
    if (isRowLink && opensTab) return;
    // Other links and buttons in the row have their own targets; selecting text is not a click.
    if (!isRowLink && (clicked.closest("a, button") || clicked.closest("label") || getSelection()?.toString())) return;
    event.preventDefault();
    // The drawer gives the focus back to the row that opened it.
    event.currentTarget.querySelector<HTMLElement>("a[data-row-link], a")?.focus({ preventScroll: true });
    const target = current.current.to?.(row);
    if (target) void current.current.navigate(target as never);
  }, []);
  return to ? onClick : undefined;
}

/** The link of a row, in its first cell. The row handles the click; a plain link costs less than one of the router. */
export function RowLink({ to, search, children }: Target & { children: ReactNode }) {
  return (
    <a href={hrefOf(to, search)} data-row-link className="cc-cut cc-plain cc-strong">
      {children}
    </a>
  );
}

/** Loads the next page by a click, and with `whenSeen` (the length of the list) also when the end of the list is near. */
function More({ onMore, isLoading, whenSeen }: { onMore: () => void; isLoading: boolean; whenSeen: number | null }) {
  const box = useRef<HTMLDivElement>(null);
  const load = useRef(onMore);
  useEffect(() => {
    load.current = onMore;
  });
  useEffect(() => {
    if (whenSeen === null || !box.current) return;
    // Once for each length of the list: a page without matches does not load all others after it.
    const seen = new IntersectionObserver(
      ([entry]) => {
        if (!entry?.isIntersecting || document.documentElement.scrollTop === 0) return;
        seen.disconnect();
        load.current();
      },
      { rootMargin: "800px" },
    );
    seen.observe(box.current);
    return () => seen.disconnect();
  }, [whenSeen]);
  return (
    <Center p="md" ref={box}>
      <Button variant="default" onClick={onMore} loading={isLoading}>
        {commonText.list.more}
      </Button>
    </Center>
  );
}
