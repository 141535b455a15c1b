// The items of an event: the lines of an order or cart.

import { Text } from "@mantine/core";
import { Rows } from "../../common/lists/Rows.tsx";
import { Money } from "../../common/values.tsx";
import type { EventTrace } from "./ReceivedSteps.tsx";
import { countText } from "../../common/format/numbers.ts";
import { eventsText } from "../../messages/events.ts";

export function Items({ trace: { items, currency } }: { trace: EventTrace }) {
  if (items.length === 0) return null;
  return (
    <Rows
      label={eventsText.items.title}
      // An order may have several lines of one product.
      rows={items.map((item, at) => ({ ...item, at }))}
      keyOf={({ at }) => String(at)}
      columns={[
        {
          title: eventsText.items.item,
          cell: ({ id, name, category, brand }) => (
            <>
              <Text size="sm" style={{ overflowWrap: "anywhere" }}>
                {name ?? id}
              </Text>
              <Text size="xs" c="dimmed" style={{ overflowWrap: "anywhere" }}>
                {[name && id, category, brand].filter(Boolean).join(", ")}
              </Text>
            </>
          ),
        },
        { title: eventsText.items.quantity, align: "right", cell: ({ quantity }) => countText(quantity) },
        { title: eventsText.items.price, align: "right", cell: ({ price }) => <Money value={price} currency={currency} /> },
      ]}
      empty={null}
    />
  );
}
