// Items in the forms that several platforms share. Every function takes a list that is not empty: an event without items has
// no list, and platforms leave the fields out.

import type { Item } from "../../kernel/event.ts";
import { amountOf, type Body } from "./values.ts";

type Items = readonly Item[];

/** How many pieces there are in all: `num_items` and the like. */
export function piecesOf(items: Items): number {
  let pieces = 0;
  for (const { quantity } of items) pieces += quantity;
  return pieces;
}

export const idsOf = (items: Items): string[] => items.map(({ id }) => id);

/** The price of one piece; undefined where it is unknown. */
export const priceOf = ({ price }: Item, currency: string): number | undefined =>
  price === undefined ? undefined : amountOf(price, currency);

/** The price of everything; undefined where the price of an item is unknown. */
export function totalOf(items: Items, currency: string): number | undefined {
  let total = 0;
  for (const item of items) {
    const price = priceOf(item, currency);
    if (price === undefined) return undefined;
    total += price * item.quantity;
  }
  return amountOf(total, currency);
}

/** The different values of a field, separated by commas; undefined where no item has one. */
export function joinTexts(items: Items | undefined, field: "id" | "name" | "category" | "brand"): string | undefined {
  if (!items) return undefined;
  const texts = new Set(items.flatMap((item) => item[field] ?? []));
  return texts.size ? [...texts].join(",") : undefined;
}

/** The `contents` that Meta defined and Snapchat adopted. */
export const contentsOf = (items: Items, currency: string): Body[] =>
  items.map((item) => ({ id: item.id, quantity: item.quantity, item_price: priceOf(item, currency) }));
