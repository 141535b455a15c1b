// The sealed part of an event's row, in the column `extra`: extra fields, items, the lead id, and the names of fields that look like
// known ones. An event that has none of them leaves the column empty, and one with extra fields only is stored as these alone, so that
// the others cost nothing where there are none.

import type { Event, Item, LookAlike } from "../../kernel/event.ts";

type Payload = Pick<Event, "extra" | "items" | "leadId" | "lookAlikes">;

export const noPayload: Payload = Object.freeze({ extra: null, items: undefined, lookAlikes: undefined });

/** The items, and the others where there are any. */
type PackedPayload = [
  items: PackedItem[],
  extra?: Record<string, unknown> | null,
  leadId?: string | null,
  lookAlikes?: readonly LookAlike[],
];

/** In this order, without the values at the end that are missing; the others that are missing are null. */
type PackedItem = [id: string, quantity: number, price?: number | null, ...texts: (string | null)[]];

export function packPayload({ extra, items, leadId, lookAlikes }: Payload): string | null {
  if (!items && leadId === undefined && !lookAlikes) return extra && JSON.stringify(extra);
  const packed: PackedPayload = [(items ?? []).map(packItem)];
  if (extra || leadId !== undefined || lookAlikes) packed.push(extra);
  if (leadId !== undefined || lookAlikes) packed.push(leadId ?? null);
  if (lookAlikes) packed.push(lookAlikes);
  return JSON.stringify(packed);
}

export function unpackPayload(text: string): Payload {
  const packed: PackedPayload | Record<string, unknown> = JSON.parse(text);
  if (!Array.isArray(packed)) return { extra: packed, items: undefined };
  const [items, extra = null, leadId, lookAlikes] = packed;
  const payload: Payload = { extra };
  if (items.length) payload.items = items.map(unpackItem);
  if (leadId) payload.leadId = leadId;
  if (lookAlikes) payload.lookAlikes = lookAlikes;
  return payload;
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
