// Unknown fields that look like known ones: `order_id` is accepted and ignored, and its sender probably meant `orderId`. The
// answer to a test key and the trace of the event name them.

import type { LookAlike } from "../kernel/event.ts";
import { isAbsent } from "./fieldFault.ts";

const known = [
  "email",
  "hashed_email",
  "event",
  "value",
  "currency",
  "orderId",
  "refundId",
  "firstName",
  "lastName",
  "phone",
  "eventTime",
  "items",
  "clickIds",
  "clickTime",
] as const;

const knownNames: ReadonlySet<string> = new Set(known);

/** Other words for the same thing, without regard to case and signs. */
const others: Readonly<Record<string, (typeof known)[number]>> = {
  emailaddress: "email",
  emailsha256: "hashed_email",
  eventname: "event",
  amount: "value",
  total: "value",
  revenue: "value",
  currencycode: "currency",
  ordernumber: "orderId",
  transactionid: "orderId",
  phonenumber: "phone",
  givenname: "firstName",
  familyname: "lastName",
  timestamp: "eventTime",
  products: "items",
  lineitems: "items",
};

const fold = (name: string) => name.toLowerCase().replace(/[^a-z0-9]/g, "");
const byFolded = new Map<string, string>([...Object.entries(others), ...known.map((name) => [fold(name), name] as const)]);

const maxNames = 5;
const maxNameLength = 40;

/** Returns undefined where there is none, as in most events. */
export function findLookAlikes(fields: Record<string, unknown>): LookAlike[] | undefined {
  let found: LookAlike[] | undefined;
  for (const name in fields) {
    if (knownNames.has(name) || name.length > maxNameLength) continue;
    const meant = byFolded.get(fold(name));
    // A sender that gives both knows what it does.
    if (meant === undefined || !isAbsent(fields[meant])) continue;
    found ??= [];
    if (found.length < maxNames) found.push({ name, meant });
  }
  return found;
}
