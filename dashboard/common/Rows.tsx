// A list as a table: loading, empty, error, and more pages. A row that leads somewhere is a link in its first cell.

import { Box, Button, Center, Table } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { ApiError } from "./api.ts";
import { Fault, Loading } from "./states.tsx";

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
  again,
  to,
  more = null,
  isLoadingMore = false,
}: {
  /** What the table holds, for screen readers. */
  label: string;
  columns: readonly Column<Row>[];
  /** Undefined while they load. */
  rows: readonly Row[] | undefined;
  keyOf: (row: Row) => string;
  empty: ReactNode;
  error?: ApiError | null;
  again?: () => void;
  /** Where a click on a row leads; give the row's first cell a link to the same place for keyboards. */
  to?: (row: Row) => { to: string; search?: Record<string, unknown> };
  more?: (() => void) | null;
  isLoadingMore?: boolean;
}) {
  const navigate = useNavigate();
  if (error) return <Fault error={error} {...(again ? { again } : {})} />;
  if (!rows) return <Loading />;
  if (rows.length === 0 && !more) return <>{empty}</>;
  if (rows.length === 0)
    return (
      <Center p="xl">
        {/* A rare filter: so far only a part of the list was looked at. */}
        <Button variant="default" onClick={() => more?.()} loading={isLoadingMore}>
          Nothing among the newest: look further
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
                        // Links and buttons in the row do their own work; marking text is no click.
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
            Show more
          </Button>
        </Center>
      )}
    </>
  );
}
