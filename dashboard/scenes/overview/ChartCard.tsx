// A chart with its heading, a description, and a link to its rows.

import { Center, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { Card } from "../../common/Page.tsx";
import { TextLink } from "../../common/links.tsx";

type RowsLink = { to: string; search?: Record<string, unknown>; label: string };

export function ChartCard({
  title,
  counts,
  rows,
  actions,
  nothing = null,
  children,
}: {
  title: string;
  /** Describes in one line what the chart counts. */
  counts: string;
  /** Without it there is no list of what the chart counts. */
  rows?: RowsLink;
  actions?: ReactNode;
  /** Replaces the chart when there is no data. */
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
          {rows && (
            <TextLink to={rows.to} search={rows.search ?? {}}>
              {rows.label}
            </TextLink>
          )}
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
