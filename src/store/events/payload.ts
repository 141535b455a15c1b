// The sealed part of an event's row, in the column `extra`: extra fields and items. An event that has neither leaves the
// column empty, and one without items is stored as its extra fields alone, so that items cost nothing where there are none.

import type { Event, Item } from "../../kernel/event.ts";

type Payload = Pick<Event, "extra" | "items">;

export const noPayload: Payload = Object.freeze({ extra: null, items: undefined });

/** The items, and the extra fields where there are any. */
type PackedPayload = [items: PackedItem[], extra?: Record<string, unknown>];

/** In this order, without the values at the end that are missing; the others that are missing are null. */
type PackedItem = [id: string, quantity: number, price?: number | null, ...texts: (string | null)[]];

export function packPayload({ extra, items }: Payload): string | null {
  if (!items) return extra && JSON.stringify(extra);
  const packed: PackedPayload = [items.map(packItem)];
  if (extra) packed.push(extra);
  return JSON.stringify(packed);
}

export function unpackPayload(text: string): Payload {
  const packed: PackedPayload | Record<string, unknown> = JSON.parse(text);
  if (!Array.isArray(packed)) return { extra: packed, items: undefined };
  const [items, extra = null] = packed;
  return { extra, items: items.map(unpackItem) };
}

function packItem({ id, quantity, price, name, category, brand }: Item): PackedItem {
  const rest = [price ?? null, name ?? null, category ?? null, brand ?? null];
  while (rest.length > 0 && rest.at(-1) === null) rest.pop();
  return [id, quantity, ...rest] as PackedItem;
}

function unpackItem([id, quantity, price, name, category, brand]: PackedItem): Item {
  const item: Item = { id, quantity };
  if (name != null) item.name = name;
  if (category != null) item.category = category;
  if (brand != null) item.brand = brand;
  if (price != null) item.price = price;
  return item;
}
