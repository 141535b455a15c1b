// The key figures of a reconciliation.

import { SimpleGrid } from "@mantine/core";
import { Tile } from "../../common/Tile.tsx";
import { countText, moneyText, percentText, shortCount } from "../../common/format/numbers.ts";
import { PlatformName } from "../../common/platforms/PlatformMark.tsx";
import { reconciliationText } from "../../messages/reconciliation.ts";
import { commonText } from "../../messages/common.ts";
import { rowsPage, type ConnectionReport, type Report } from "./report.ts";

const differing = ["value_differs", "currency_differs", "duplicate", "status_changed"] as const;

export function Summary({ site, report, nameOf }: { site: string; report: Report; nameOf: (of: ConnectionReport) => string }) {
  const { id, orders, received, classes, values, connections } = report;
  const missing = classes.missing_here ?? 0;
  const changed = differing.reduce((sum, name) => sum + (classes[name] ?? 0), 0);
  const changes = differing.filter((name) => (classes[name] ?? 0) > 0);
  const [worst] = connections
    .filter(({ deliverable }) => deliverable > 0)
    .toSorted((one, other) => one.accepted / one.deliverable - other.accepted / other.deliverable);
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
          value={percentText(worst.accepted, worst.deliverable)}
          {...rowsPage(site, id, {
            connection: worst.connectionId,
            state: worst.failed > 0 ? "failed" : "sent",
          })}
        >
          <PlatformName id={worst.platform}>
            {worst.failed > 0 ? reconciliationText.summary.failed(nameOf(worst), countText(worst.failed)) : nameOf(worst)}
          </PlatformName>
        </Tile>
      )}
    </SimpleGrid>
  );
}
