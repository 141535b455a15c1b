// The classes of orders with their counts, and the sums of both sides. Each count links to its orders.

import { SimpleGrid, Text } from "@mantine/core";
import { Card } from "../../common/Page.tsx";
import { Tile } from "../../common/Tile.tsx";
import { countText, moneyText } from "../../common/format/numbers.ts";
import { rowClasses } from "../../../src/kernel/reconciliation.ts";
import { reconciliationText } from "../../messages/reconciliation.ts";
import { rowsPage, type Report } from "./report.ts";

export function Differences({ site, report }: { site: string; report: Report }) {
  const { id, classes, foundBy, values } = report;
  const found = rowClasses.filter((name) => (classes[name] ?? 0) > 0);
  const weak = foundBy.weak ?? 0;
  return (
    <Card
      title={reconciliationText.differences.title}
      about={values.map(({ currency, listed, received }) => (
        <div key={currency} className="cc-number">
          {reconciliationText.differences.values(moneyText(listed, currency), moneyText(received, currency))}
        </div>
      ))}
    >
      <SimpleGrid cols={{ base: 2, md: 3, lg: Math.min(found.length, 5) }} spacing="md">
        {found.map((name) => (
          <Tile
            key={name}
            label={reconciliationText.classes[name]}
            value={countText(classes[name] ?? 0)}
            {...rowsPage(site, id, { class: name })}
          >
            {reconciliationText.aboutClasses[name]}
          </Tile>
        ))}
      </SimpleGrid>
      {weak > 0 && (
        <Text size="sm" c="dimmed" mt="md">
          {reconciliationText.differences.weak(weak)}
        </Text>
      )}
    </Card>
  );
}
