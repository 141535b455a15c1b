// The key figures of a reconciliation.

import { SimpleGrid } from "@mantine/core";
import { Tile } from "../../common/Tile.tsx";
import { countText, moneyText, percentText, shortCount } from "../../common/format/numbers.ts";
import { reconciliationText } from "../../messages/reconciliation.ts";
import { commonText } from "../../messages/common.ts";
import { largestGapAt, rowsPage, type ConnectionReport, type Report } from "./report.ts";

const differing = ["value_differs", "currency_differs", "duplicate", "status_changed"] as const;

export function Summary({ site, report, nameOf }: { site: string; report: Report; nameOf: (of: ConnectionReport) => string }) {
  const { id, orders, received, classes, values, connections } = report;
  const missing = classes.missing_here ?? 0;
  const changed = differing.reduce((sum, name) => sum + (classes[name] ?? 0), 0);
  const changes = differing.filter((name) => (classes[name] ?? 0) > 0);
  const worst = largestGapAt(connections);
  return (
    <SimpleGrid cols={{ base: 2, md: 4 }} spacing="md">
      <Tile label={reconciliationText.funnel.steps.orders} value={shortCount(orders)} exact={countText(orders)}>
        {values.map(({ listed, currency }) => moneyText(listed, currency)).join(" · ")}
      </Tile>
      <Tile
        label={reconciliationText.summary.received}
        value={percentText(received, orders)}
        {...(missing > 0 ? rowsPage(site, id, { class: "missing_here" }) : {})}
      >
        {missing > 0 ? reconciliationText.summary.missing(countText(missing)) : reconciliationText.summary.all}
      </Tile>
      <Tile
        label={reconciliationText.summary.differing}
        value={shortCount(changed)}
        exact={countText(changed)}
        {...(changes.length === 1 ? rowsPage(site, id, { class: changes[0] }) : {})}
      >
        {changes.map((name) => reconciliationText.differing[name](countText(classes[name] ?? 0))).join(", ") || commonText.none}
      </Tile>
      {worst && (
        <Tile
          label={connections.length > 1 ? reconciliationText.summary.lowest : reconciliationText.acceptance.title}
          value={connections.length > 1 ? nameOf(worst) : percentText(worst.accepted, worst.deliverable)}
          {...rowsPage(
            site,
            id,
            worst.failed > 0 || missing === 0
              ? { connection: worst.connectionId, state: worst.failed > 0 ? "failed" : "sent" }
              : { class: "missing_here" },
          )}
        >
          {reconciliationText.summary.parts(countText(worst.accepted), countText(worst.deliverable), countText(worst.failed))}
        </Tile>
      )}
    </SimpleGrid>
  );
}
