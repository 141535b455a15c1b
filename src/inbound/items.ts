// Reads the items of an event: the lines of an order or cart. The first wrong field is named with its place, items[3].price.

import { say } from "../kernel/messages/message.ts";
import { isJsonObject } from "../http/body.ts";
import { looksLikeEmail } from "../identity/email.ts";
import type { Item } from "../kernel/event.ts";
import { maskAddresses } from "../kernel/maskAddresses.ts";
import { checkText, FieldFault, isAbsent, maxValue } from "./fieldFault.ts";
import type { Body } from "./fields.ts";

const maxItems = 100;
const maxIdLength = 128;
const maxTextLength = 512;
const maxQuantity = 1_000_000;

/** An empty list is no items. */
export function readItems({ fields, exact }: Body): Item[] | undefined {
  const given = fields.items;
  if (!Array.isArray(given)) throw new FieldFault("items must be a list of objects");
  if (given.length > maxItems) throw new FieldFault(say("items_too_many", { max: maxItems }));
  const again = given.some(hasInexactId) ? exact()?.items : given;
  const list: readonly unknown[] = Array.isArray(again) ? again : given;
  return list.length === 0 ? undefined : list.map((one, at) => readItem(one, `items[${at}]`));
}

function readItem(given: unknown, path: string): Item {
  if (!isJsonObject(given)) throw new FieldFault(say("field_not_an_object", { field: path }));
  const item: Item = { id: readId(given.id, `${path}.id`), quantity: readQuantity(given.quantity, path) };
  const name = readOptional(given.name, `${path}.name`);
  const category = readOptional(given.category, `${path}.category`);
  const brand = readOptional(given.brand, `${path}.brand`);
  const price = readPrice(given.price, `${path}.price`);
  if (name !== undefined) item.name = name;
  if (category !== undefined) item.category = category;
  if (brand !== undefined) item.brand = brand;
  if (price !== undefined) item.price = price;
  return item;
}

function readId(value: unknown, path: string): string {
  if (isAbsent(value)) throw new FieldFault(say("field_required", { field: path }));
  const text = Number.isSafeInteger(value) ? String(value) : value;
  return maskAddresses(checkText(path, text, maxIdLength).trim());
}

function readOptional(value: unknown, path: string): string | undefined {
  if (isAbsent(value)) return undefined;
  const text = checkText(path, value, maxTextLength).trim();
  // An address is contact data, whatever the field is called.
  return looksLikeEmail(text) ? undefined : maskAddresses(text);
}

function readPrice(value: unknown, path: string): number | undefined {
  if (isAbsent(value)) return undefined;
  if (typeof value !== "number" || !Number.isFinite(value)) throw new FieldFault(say("field_not_a_number", { field: path }));
  if (value < 0) throw new FieldFault(say("field_negative", { field: path }));
  if (value > maxValue) throw new FieldFault(say("field_too_large", { field: path, max: maxValue }));
  return value === 0 ? 0 : value;
}

function readQuantity(value: unknown, path: string): number {
  if (isAbsent(value)) return 1;
  if (!Number.isInteger(value) || Number(value) < 1 || Number(value) > maxQuantity)
    throw new FieldFault(say("field_not_whole", { field: `${path}.quantity`, min: 1, max: maxQuantity }));
  return Number(value);
}

const hasInexactId = (one: unknown) => isJsonObject(one) && typeof one.id === "number" && !Number.isSafeInteger(one.id);
