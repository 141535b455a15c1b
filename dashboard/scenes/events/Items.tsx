// The items of an event: the lines of an order or cart.

import { Table, Text } from "@mantine/core";
import { Money } from "../../common/values.tsx";
import type { EventTrace } from "./ReceivedSteps.tsx";
import { countText } from "../../common/format/numbers.ts";
import { eventsText } from "../../messages/events.ts";

export function Items({ trace: { items, currency } }: { trace: EventTrace }) {
  if (items.length === 0) return null;
  return (
    <Table.ScrollContainer minWidth={360} mt="xs">
      <Table aria-label={eventsText.items.title}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th fw={500} c="dimmed" fz="xs">
              {eventsText.items.item}
            </Table.Th>
            <Table.Th fw={500} c="dimmed" fz="xs" ta="right">
              {eventsText.items.quantity}
            </Table.Th>
            <Table.Th fw={500} c="dimmed" fz="xs" ta="right">
              {eventsText.items.price}
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {items.map((item, at) => (
            // An order may have several lines of one product.
            <Table.Tr key={at}>
              <Table.Td>
                <Text size="sm" style={{ overflowWrap: "anywhere" }}>
                  {item.name ?? item.id}
                </Text>
                <Text size="xs" c="dimmed" style={{ overflowWrap: "anywhere" }}>
                  {[item.name && item.id, item.category, item.brand].filter(Boolean).join(", ")}
                </Text>
              </Table.Td>
              <Table.Td ta="right" className="cc-number">
                {countText(item.quantity)}
              </Table.Td>
              <Table.Td ta="right">
                <Money value={item.price} currency={currency} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
