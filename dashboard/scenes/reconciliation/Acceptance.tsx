// A table with the accepted of the deliverable orders of each connection, and what cannot apply to it. Every number links to its orders.

import { Box, Group, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { Card } from "../../common/Page.tsx";
import { countText, moneyText, percentText } from "../../common/format/numbers.ts";
import { DocsLink, TextLink } from "../../common/links.tsx";
import { Rows, type Column } from "../../common/lists/Rows.tsx";
import { PlatformName } from "../../common/platforms/PlatformMark.tsx";
import { reconciliationText } from "../../messages/reconciliation.ts";
import { RichText } from "../../common/format/RichText.tsx";
import { funnelPage, rowsPage, type ConnectionReport, type Report } from "./report.ts";

type Line = ConnectionReport & { name: string };

export function Acceptance({ site, report, nameOf }: { site: string; report: Report; nameOf: (of: ConnectionReport) => string }) {
  return (
    <Card
      title={reconciliationText.acceptance.title}
      padded={false}
      about={
        <RichText
          text={reconciliationText.acceptance.about}
          tags={{ docs: (text) => <DocsLink page="how-to/reconcile">{text}</DocsLink> }}
        />
      }
    >
      <Rows
        label={reconciliationText.acceptance.table}
        columns={columnsOf(site, report)}
        rows={report.connections.map((one): Line => ({ ...one, name: nameOf(one) }))}
        keyOf={({ connectionId }) => connectionId}
        empty={null}
      />
    </Card>
  );
}

/** The parts of the deliverable orders, in the order of the table's columns; what is left was never received. */
const parts = [
  { name: "accepted", colour: "var(--cc-good)" },
  { name: "waiting", colour: "var(--cc-wait)" },
  { name: "failed", colour: "var(--cc-bad)" },
] as const;

function Shares({ of }: { of: Line }) {
  const shown = parts.filter(({ name }) => of[name] > 0);
  if (of.deliverable === 0) return null;
  return (
    <>
      <Group
        gap={1}
        h={6}
        maw={240}
        mt={6}
        bdrs="sm"
        bg="var(--mantine-color-default-hover)"
        wrap="nowrap"
        style={{ overflow: "hidden" }}
        aria-hidden
      >
        {shown.map(({ name, colour }) => (
          <Box key={name} h="100%" w={`${(of[name] / of.deliverable) * 100}%`} bg={colour} />
        ))}
      </Group>
      <Text size="xs" c="dimmed" mt={4} hiddenFrom="sm">
        {shown.map(({ name }) => reconciliationText.acceptance.counts[name](countText(of[name]))).join(", ")}
      </Text>
    </>
  );
}

/** "61%", "120 of 197" and the money of both. */
function Accepted({ of: { deliverable, accepted, skipped, values }, link }: { of: Line; link: ReactNode }) {
  const texts = reconciliationText.acceptance;
  if (deliverable === 0) return <span className="cc-quiet">{skipped > 0 ? texts.leftOut : texts.later}</span>;
  return (
    <>
      <strong>{percentText(accepted, deliverable)}</strong>
      <Text size="sm" component="div">
        {link} {texts.ofOnly(countText(deliverable))}
      </Text>
      {values.map(({ currency, ...money }) => (
        <Text key={currency} size="xs" c="dimmed" style={{ whiteSpace: "nowrap" }}>
          {texts.ofDeliverable(moneyText(money.accepted, currency), moneyText(money.deliverable, currency))}
        </Text>
      ))}
    </>
  );
}

type NumberOf = (count: number, filter: Record<string, unknown> | null) => ReactNode;

/** In grey: these are no losses. The reasons are in the funnel, each with its orders. */
function NotApplicable({ of, number }: { of: Line; number: NumberOf }) {
  const { connectionId: connection } = of;
  const texts = reconciliationText.acceptance;
  const lines = [
    [texts.skipped, of.skipped, { connection, state: "skipped" }],
    [texts.filtered, of.filtered, null],
    [texts.notConnected, of.notConnected, { connection, state: "none" }],
  ] as const;
  const shown = lines.filter(([, count]) => count > 0);
  if (shown.length === 0) return number(0, null);
  return shown.map(([name, count, filter]) => (
    <Text key={name} size="xs" c="dimmed">
      {name} {number(count, filter)}
    </Text>
  ));
}

function columnsOf(site: string, { id }: Report): Column<Line>[] {
  const number: NumberOf = (count, filter) => {
    if (count === 0) return <span className="cc-quiet">0</span>;
    return filter ? <TextLink {...rowsPage(site, id, filter)}>{countText(count)}</TextLink> : countText(count);
  };
  const column = (
    name: "waiting" | "failed" | "notReceived",
    filterOf: (connection: string) => Record<string, unknown>,
  ): Column<Line> => ({
    title: reconciliationText.acceptance[name],
    align: "right",
    wide: true,
    // Of days before it was connected, and of events that it does not take, nothing is missing there.
    cell: (line) => number(line.deliverable === 0 ? 0 : line[name], filterOf(line.connectionId)),
  });
  const texts = reconciliationText.acceptance;
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
          <Shares of={line} />
        </>
      ),
    },
    {
      title: texts.title,
      align: "right",
      cell: (line) => <Accepted of={line} link={number(line.accepted, { connection: line.connectionId, state: "sent" })} />,
    },
    column("waiting", (connection) => ({ connection, state: "waiting" })),
    column("failed", (connection) => ({ connection, state: "failed" })),
    column("notReceived", () => ({ class: "missing_here" })),
    {
      title: texts.notApplicable,
      align: "right",
      wide: "lg",
      cell: (line) => <NotApplicable of={line} number={number} />,
    },
  ];
}
