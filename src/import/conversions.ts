// Rows as conversions. Each goes the way of an inbound event from the check of its fields on; only its deliveries are left to
// the worker. Its id is made from the import and its line, so that a row that is taken in again, after a crash, finds
// itself there: the claim is its own already, and nothing is written twice.

import { hash } from "node:crypto";
import type { Lanes } from "../delivery/lanes.ts";
import { extraIn } from "../inbound/extra.ts";
import { FieldFault, readFields } from "../inbound/fields.ts";
import { idAt } from "../kernel/ids.ts";
import { relay, type Received } from "../pipeline.ts";
import type { Site } from "../sites/directory.ts";
import type { Store } from "../store/store.ts";
import { canBeIn, readMoney } from "./money.ts";
import { cellOf, textIn, type Reading } from "./reading.ts";
import type { Cells, TableRow } from "./table.ts";
import type { Outcome } from "./tally.ts";
import { readTime, ValueFault } from "./values.ts";

/** What stands in the place of an inbound key. */
export const importKey = "import";

const dayMs = 86_400_000;
/** Longer than a row may be old: an export that overlaps with an earlier one adds nothing. */
const rememberedMs = 91 * dayMs;
const texts = ["email", "hashed_email", "event", "currency", "orderId", "phone", "firstName", "lastName"];

export type ConversionImport = {
  id: string;
  store: Store;
  /** With the connections that it delivers to, as they are now. */
  site: () => Site;
  reading: Reading;
  now: () => number;
};

/** Takes rows in; resolves when all of them are durable. */
export async function takeConversions(rows: readonly TableRow[], on: ConversionImport): Promise<Outcome[]> {
  const now = on.now();
  const site = patient(on.site());
  const outcomes: Outcome[] = [];
  const waves: { received: Received; at: number }[][] = [];
  const seen = new Map<string, number>();
  for (const [at, row] of rows.entries()) {
    const received = "fault" in row ? row.fault : receivedOf(row.cells, row.line, site, now, on);
    if (typeof received === "string") {
      outcomes[at] = { became: "refused", reason: received };
      continue;
    }
    // Rows of one person go in their order: of two equal ones it is always the first that counts.
    const { emailSha256 } = received.event.person;
    const wave = seen.get(emailSha256) ?? 0;
    seen.set(emailSha256, wave + 1);
    (waves[wave] ??= []).push({ received, at });
  }
  const ids = waves.flat().map(({ received }) => received.event.id);
  if (ids.length) await on.store.imports.markHours(site.id, ids, now);
  for (const wave of waves) {
    await Promise.all(
      wave.map(async ({ received, at }) => {
        outcomes[at] = await takeOne(received, site, now, on);
      }),
    );
  }
  return outcomes;
}

async function takeOne(
  received: Received,
  site: Site,
  now: number,
  { store }: ConversionImport,
): Promise<Outcome> {
  const exit = await relay(received, site, now + dayMs, { store, lanes: notNow, owner: "", leaseMs: 0 });
  switch (exit.exit) {
    case "duplicate":
      return { became: "duplicate" };
    case "filtered":
      return { became: "filtered" };
    case "dispatched":
      return { became: "imported", results: exit.results };
  }
}

/** Deliveries are in nobody's hand and due at once: the worker of any node takes them when it has room. */
const notNow: Lanes = {
  send: async () => ({ state: "queued", reason: "waits for the worker" }),
  withdraw: () => false,
  room: () => 0,
  depths: () => [],
  idle: async () => {},
  close: async () => {},
};

function patient(site: Site): Site {
  const { dedupOrderMs, dedupNoOrderMs } = site.settings;
  const settings = {
    ...site.settings,
    dedupOrderMs: Math.max(dedupOrderMs, rememberedMs),
    dedupNoOrderMs: Math.max(dedupNoOrderMs, rememberedMs),
  };
  return { ...site, settings };
}

function receivedOf(
  cells: Cells,
  line: number,
  site: Site,
  now: number,
  { id, reading }: ConversionImport,
): Received | string {
  const fields: Record<string, unknown> = { ...cells };
  for (const name of texts) fields[name] = cellOf(cells, name, reading);
  const value = cellOf(cells, "value", reading);
  const money = typeof value === "string" ? readMoney(value, reading.rules, reading.delimiter) : null;
  if (money instanceof ValueFault) return money.sentence;
  fields.value = money ? money.amount : value;
  const time = readTime("eventTime", textIn(cells, "eventTime", reading), reading.rules);
  if (time instanceof ValueFault) return time.sentence;
  fields.eventTime = time / 1000;

  const read = readFields({ fields, text: "" }, site.settings, now);
  if (read instanceof FieldFault) return read.message;
  if (money && !canBeIn(read.currency, money))
    return "value names another currency than the row has (USD where nothing says it); use --map or --constant currency=…";
  const { keepEventsMs } = site.settings;
  if (time < now - keepEventsMs)
    return `eventTime is older than events are kept (keep_events, ${Math.floor(keepEventsMs / dayMs)} days)`;
  return {
    event: {
      id: idOfRow(id, line, time),
      siteId: site.id,
      keyId: importKey,
      mode: "live",
      name: read.event,
      value: read.value,
      currency: read.currency,
      orderId: read.orderId,
      time,
      receivedAt: now,
      person: read.person,
      extra: extraIn({ fields: { ...cells }, text: "" }, site),
    },
    eventTime: time,
    emailDomain: read.emailDomain,
  };
}

/** A UUIDv7 of the time of the conversion, so that charts and lists have it where it happened. */
function idOfRow(importId: string, line: number, time: number): string {
  const hex = hash("sha256", `${importId}\n${line}`);
  return `${idAt(time).slice(0, 14)}7${hex.slice(0, 3)}-a${hex.slice(3, 6)}-${hex.slice(6, 18)}`;
}
