// Reads a row of the customer's list of orders. Contact data is hashed here and dropped.

import { readEmail, hashPerson, readSha256 } from "../identity/person.ts";
import { isCurrency } from "../kernel/currency.ts";
import type { Sha256 } from "../kernel/event.ts";
import { maskAddresses } from "../kernel/maskAddresses.ts";
import { say } from "../kernel/messages/message.ts";
import { Refusal } from "../kernel/refusal.ts";
import type { OrderStatus } from "../kernel/reconciliation.ts";
import { dayMs } from "../kernel/time.ts";
import { listedId, type Order } from "../store/reconciliation/orders.ts";
import {
  matchColumns,
  readCellText,
  refuseMissing,
  type Chosen,
  type FieldAliases,
  type Mapping,
  type RowFormat,
} from "../tables/columns.ts";
import type { Cells } from "../tables/table.ts";
import { matchesCurrency, readMoney, readTime, ValueFault } from "../tables/values.ts";

const orderFields: FieldAliases = {
  orderId: ["order", "order id", "order number", "order no", "order reference", "name", "transaction id", "transaction"],
  time: [
    "order time",
    "order date",
    "created at",
    "created",
    "date",
    "datetime",
    "timestamp",
    "occurred at",
    "paid at",
    "purchase date",
    "event time",
  ],
  value: ["amount", "total", "order total", "order value", "total price", "grand total", "revenue"],
  currency: ["currency code", "order currency"],
  status: ["order status", "financial status", "payment status", "state"],
  email: ["email address", "customer email", "billing email"],
  hashed_email: ["hashed email", "email hash", "email sha256", "sha256 email"],
};

/** `requested` comes from --map, or from the settings of a feed. */
export function chooseOrderColumns(columns: readonly string[], requested: Mapping, constants: readonly string[]): Chosen {
  const chosen = matchColumns("orders", orderFields, columns, requested, constants);
  const present = new Set([...Object.keys(chosen.mapping), ...constants]);
  const hasIdentity = ["orderId", "email", "hashed_email"].some((field) => present.has(field));
  const missing = [...(hasIdentity ? [] : ["orderId (or email)"]), ...(present.has("time") ? [] : ["time"])];
  refuseMissing(missing, columns);
  return chosen;
}

/** Refuses names that are no fields of an order. */
export const checkOrderFields = (columns: Mapping) => {
  for (const field of Object.keys(columns))
    if (!Object.hasOwn(orderFields, field))
      throw new Refusal("columns", say("unknown_order_field", { field, known: Object.keys(orderFields).join(", ") }));
};

/** The words that shops use. A partial refund leaves a paid order, whose value says what is left. */
const statusWords: Record<OrderStatus, readonly string[]> = {
  paid: [
    "paid",
    "completed",
    "complete",
    "processing",
    "shipped",
    "delivered",
    "fulfilled",
    "succeeded",
    "success",
    "captured",
    "closed",
    "partially refunded",
    "partial refund",
    "partially paid",
  ],
  pending: [
    "pending",
    "open",
    "authorized",
    "unpaid",
    "on hold",
    "draft",
    "checkout draft",
    "awaiting payment",
    "pending payment",
    "failed",
  ],
  refunded: ["refunded", "refund", "returned", "charged back", "chargeback"],
  cancelled: ["cancelled", "canceled", "voided", "void", "expired", "deleted", "trash"],
};

const foldWord = (text: string) =>
  text
    .toLowerCase()
    .replaceAll(/[\s_-]+/g, " ")
    .trim();
const statusByWord = new Map(
  Object.entries(statusWords).flatMap(([status, words]) => words.map((word) => [word, status as OrderStatus] as const)),
);

const maxOrderIdLength = 256;

/** Returns one sentence that says what is wrong with the row, or the order. */
export function readOrder(cells: Cells, format: RowFormat, { siteId, now }: { siteId: string; now: number }): Order | string {
  const text = (field: string) => readCellText(cells, field, format);
  const orderId = maskAddresses(text("orderId"));
  if (orderId.length > maxOrderIdLength) return `orderId is longer than ${maxOrderIdLength} characters`;
  if (orderId.includes("\0") || !orderId.isWellFormed()) return "orderId has a character that cannot be stored";
  const time = readTime("time", text("time"), format.rules);
  if (time instanceof ValueFault) return time.said;
  if (time > now + dayMs) return "time is in the future";
  const currency = (text("currency") || "USD").toUpperCase();
  if (!isCurrency(currency)) return "currency is not an ISO 4217 code like EUR";
  const money = text("value") === "" ? null : readMoney(text("value"), format.rules, format.delimiter);
  if (money instanceof ValueFault) return money.said;
  if (money && !matchesCurrency(currency, money)) return "value names another currency than the row has (default USD)";
  const status = text("status") === "" ? "paid" : statusByWord.get(foldWord(text("status")));
  if (status === undefined) return "status is not one of paid, pending, refunded, cancelled or a usual word for them";
  const emailSha256 = readPerson(text("email"), text("hashed_email"));
  if (emailSha256 instanceof ValueFault) return emailSha256.said;
  if (orderId === "" && emailSha256 === null) return "the row has neither an orderId nor an email";
  const fields = { orderId: orderId || null, time, value: money?.amount ?? null, currency, emailSha256 };
  return { siteId, id: listedId(fields), status, listedAt: now, ...fields };
}

function readPerson(email: string, hashed: string): Sha256 | ValueFault | null {
  if (email !== "") {
    const plain = readEmail(email);
    return plain ? hashPerson({ email: plain }).emailSha256 : new ValueFault("email is not an email address");
  }
  if (hashed === "") return null;
  return readSha256(hashed) ?? new ValueFault("hashed_email must be 64 hex characters");
}
