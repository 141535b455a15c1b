// A list as a table: loading, empty, error, and more pages. A row that can be opened has a link in its first cell.

import { Box, Button, Center, Table } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { ApiError } from "../api/api.ts";
import { LoadError, Loading } from "../states.tsx";
import { commonText } from "../../messages/common.ts";

export type Column<Row> = {
  title: string;
  cell: (row: Row) => ReactNode;
  align?: "right";
  /** Left out on a phone. */
  wide?: boolean;
};

export function Rows<Row>({
  label,
  columns,
  rows,
  keyOf,
  empty,
  error = null,
  onRetry,
  to,
  more = null,
  isLoadingMore = false,
  searchMore = commonText.list.searchOlder,
}: {
  /** Names the table for screen readers. */
  label: string;
  columns: readonly Column<Row>[];
  /** Undefined while they load. */
  rows: readonly Row[] | undefined;
  keyOf: (row: Row) => string;
  empty: ReactNode;
  error?: ApiError | null;
  onRetry?: () => void;
  /** The target of a click on a row; its first cell needs a link to the same target, for keyboards. */
  to?: (row: Row) => { to: string; search?: Record<string, unknown> };
  more?: (() => void) | null;
  isLoadingMore?: boolean;
  /** Label of the button that reads on where a page has no matches. */
  searchMore?: string;
}) {
  const navigate = useNavigate();
  if (error) return <LoadError error={error} {...(onRetry ? { onRetry } : {})} />;
  if (!rows) return <Loading />;
  if (rows.length === 0 && !more) return <>{empty}</>;
  if (rows.length === 0)
    return (
      <Center p="xl">
        {/* With a rare filter, a page can be empty although older rows match. */}
        <Button variant="default" onClick={() => more?.()} loading={isLoadingMore}>
          {searchMore}
        </Button>
      </Center>
    );
  return (
    <>
      <Box style={{ overflowX: "auto" }} tabIndex={0} role="region" aria-label={label}>
        <Table aria-label={label}>
          <Table.Thead>
            <Table.Tr>
              {columns.map(({ title, align, wide }) => (
                <Table.Th
                  key={title}
                  ta={align ?? "left"}
                  fw={500}
                  c="dimmed"
                  fz="xs"
                  {...(wide ? { visibleFrom: "sm" } : {})}
                  style={{ whiteSpace: "nowrap" }}
                >
                  {title}
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map((row) => (
              <Table.Tr
                key={keyOf(row)}
                {...(to
                  ? {
                      className: "cc-row",
                      onClick: (event: React.MouseEvent) => {
                        // Links and buttons in the row have their own targets; selecting text is not a click.
                        if ((event.target as Element).closest("a, button") || getSelection()?.toString())
                          return;
                        void navigate(to(row) as never);
                      },
                    }
                  : {})}
              >
                {columns.map(({ title, cell, align, wide }) => (
                  <Table.Td key={title} ta={align ?? "left"} {...(wide ? { visibleFrom: "sm" } : {})}>
                    {cell(row)}
                  </Table.Td>
                ))}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Box>
      {more && (
        <Center p="md">
          <Button variant="default" onClick={more} loading={isLoadingMore}>
            {commonText.list.more}
          </Button>
        </Center>
      )}
    </>
  );
}
