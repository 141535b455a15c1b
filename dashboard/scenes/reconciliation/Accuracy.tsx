// A table with the accuracy of each connection. Every number links to its orders.

import { Text } from "@mantine/core";
import type { ReactNode } from "react";
import { Card } from "../../common/Page.tsx";
import { countText, percentText } from "../../common/format/numbers.ts";
import { DocsLink, TextLink } from "../../common/links.tsx";
import { Rows, type Column } from "../../common/lists/Rows.tsx";
import { PlatformName } from "../../common/platforms/PlatformMark.tsx";
import { reconciliationText } from "../../messages/reconciliation.ts";
import { RichText } from "../../messages/RichText.tsx";
import { funnelPage, rowsPage, type ConnectionReport, type Report } from "./report.ts";

type Line = ConnectionReport & { name: string };

export function Accuracy({ site, report, nameOf }: { site: string; report: Report; nameOf: (of: ConnectionReport) => string }) {
  return (
    <Card
      title={reconciliationText.accuracy.title}
      padded={false}
      about={
        <RichText
          text={reconciliationText.accuracy.about}
          tags={{ docs: (text) => <DocsLink page="how-to/reconcile">{text}</DocsLink> }}
        />
      }
    >
      <Rows
        label={reconciliationText.accuracy.table}
        columns={columnsOf(site, report)}
        rows={report.connections.map((one): Line => ({ ...one, name: nameOf(one) }))}
        keyOf={({ connectionId }) => connectionId}
        empty={null}
      />
    </Card>
  );
}

/** The parts of all orders, in the order of the table's columns; what is left was lost before the platform. */
const parts = [
  { name: "accepted", colour: "var(--cc-good)" },
  { name: "skipped", colour: "var(--cc-quiet)" },
  { name: "waiting", colour: "var(--cc-wait)" },
  { name: "failed", colour: "var(--cc-bad)" },
] as const;

function Shares({ of, orders }: { of: Line; orders: number }) {
  const shown = parts.filter(({ name }) => of[name] > 0);
  return (
    <>
      <div className="cc-shares cc-track" style={{ maxWidth: 240, marginTop: 6 }} aria-hidden>
        {shown.map(({ name, colour }) => (
          <div key={name} style={{ width: `${(of[name] / orders) * 100}%`, background: colour }} />
        ))}
      </div>
      <Text size="xs" c="dimmed" mt={4} hiddenFrom="sm">
        {shown.map(({ name }) => reconciliationText.accuracy.counts[name](countText(of[name]))).join(", ")}
      </Text>
    </>
  );
}

function columnsOf(site: string, { id, orders }: Report): Column<Line>[] {
  const number = (count: number, filter: Record<string, unknown> | null): ReactNode => {
    if (count === 0) return <span className="cc-quiet">0</span>;
    return filter ? <TextLink {...rowsPage(site, id, filter)}>{countText(count)}</TextLink> : countText(count);
  };
  const column = (
    name: "accepted" | "skipped" | "waiting" | "failed" | "filtered" | "notReceived" | "notConnected",
    filterOf: (connection: string) => Record<string, unknown> | null,
    wide: true | "lg" = true,
  ): Column<Line> => ({
    title: reconciliationText.accuracy[name],
    align: "right",
    wide,
    cell: (line) => number(line[name], filterOf(line.connectionId)),
  });
  const texts = reconciliationText.accuracy;
  return [
    {
      title: texts.connection,
      cell: (line) => (
        <>
          <PlatformName id={line.platform}>
            <TextLink {...funnelPage(site, id, line.connectionId)} fw={500} c="inherit">
              {line.name}
            </TextLink>
          </PlatformName>
          <Shares of={line} orders={orders} />
        </>
      ),
    },
    {
      title: texts.title,
      align: "right",
      cell: ({ accepted, skipped }) => <strong>{percentText(accepted + skipped, orders)}</strong>,
    },
    column("accepted", (connection) => ({ connection, state: "sent" })),
    column("skipped", (connection) => ({ connection, state: "skipped" })),
    column("waiting", (connection) => ({ connection, state: "waiting" })),
    column("failed", (connection) => ({ connection, state: "failed" })),
    // These were lost before the platform. The reasons are in the funnel, each with its orders.
    column("filtered", () => null, "lg"),
    column("notReceived", () => ({ class: "missing_here" }), "lg"),
    column("notConnected", (connection) => ({ connection, state: "none" }), "lg"),
  ];
}
