// A chart with its heading, what it counts, and the way to the rows behind it.

import { Center, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { Card } from "../../common/Page.tsx";
import { To } from "../../common/To.tsx";

export type RowsLink = { to: string; search?: Record<string, unknown>; label: string };

export function ChartCard({
  title,
  counts,
  rows,
  actions,
  nothing = null,
  children,
}: {
  title: string;
  /** One line. */
  counts: string;
  rows: RowsLink;
  actions?: ReactNode;
  /** Stands in place of the chart when there is nothing to draw. */
  nothing?: ReactNode;
  children: ReactNode;
}) {
  return (
    <Card
      title={title}
      about={counts}
      actions={
        <>
          {actions}
          <To to={rows.to} search={rows.search ?? {}}>
            {rows.label}
          </To>
        </>
      }
    >
      {nothing ? (
        <Center mih={120}>
          <Text size="sm" c="dimmed" ta="center" maw={360} component="div">
            {nothing}
          </Text>
        </Center>
      ) : (
        children
      )}
    </Card>
  );
}
