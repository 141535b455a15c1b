// Imports rows as conversions. Each row runs through the pipeline like an inbound event; only its deliveries are left to
// the worker. The event id depends on the import, the line and the time, so a row that is imported again after a crash
// finds its own claim, and nothing is written twice.

import { say } from "../kernel/messages/message.ts";
import { hash } from "node:crypto";
import { dayMs } from "../kernel/time.ts";
import type { Lanes } from "../delivery/lanes/lanes.ts";
import { reserveForWorkers } from "../delivery/ownership.ts";
import { FieldFault } from "../inbound/fieldFault.ts";
import { newEvent, readExtra, readFields } from "../inbound/fields.ts";
import { idAt } from "../kernel/ids.ts";
import { relay, type Received } from "../pipeline.ts";
import type { Site } from "../sites/directory.ts";
import type { Store } from "../store/store.ts";
import { readCell, readCellText, type RowFormat } from "../tables/columns.ts";
import { readItemsCell } from "./items.ts";
import type { Cells, TableRow } from "../tables/table.ts";
import type { Outcome } from "./tally.ts";
import { matchesCurrency, readMoney, readTime, ValueFault } from "../tables/values.ts";

/** The key id of imported events. */
const importKey = "import";

/** More than the maximum age of a row, so that overlapping exports add nothing twice. */
const minDedupMs = 91 * dayMs;
const textFields = ["email", "hashed_email", "event", "currency", "orderId", "leadId", "phone", "firstName", "lastName"];

type ConversionImport = {
  id: string;
  store: Store;
  /** The site as it is now, with only the connections to deliver to. */
  site: () => Site;
  format: RowFormat;
  now: () => number;
};

/** Resolves when all rows are durable. */
export async function importConversions(rows: readonly TableRow[], options: ConversionImport): Promise<Outcome[]> {
  const now = options.now();
  const site = withLongDedup(options.site());
  const outcomes: Outcome[] = [];
  const waves: { received: Received; at: number }[][] = [];
  const seen = new Map<string, number>();
  for (const [at, row] of rows.entries()) {
    const received = "fault" in row ? row.fault : readRow(row.cells, row.line, site, now, options);
    if (typeof received === "string") {
      outcomes[at] = { status: "refused", reason: received };
      continue;
    }
    // Rows of one person are relayed in order, so that of two equal rows the first always counts.
    const { emailSha256 = "" } = received.event.person;
    const wave = seen.get(emailSha256) ?? 0;
    seen.set(emailSha256, wave + 1);
    (waves[wave] ??= []).push({ received, at });
  }
  const ids = waves.flat().map(({ received }) => received.event.id);
  if (ids.length) await options.store.imports.markHours(site.id, ids, now);
  for (const wave of waves) {
    await Promise.all(
      wave.map(async ({ received, at }) => {
        outcomes[at] = await relayRow(received, site, now, options);
      }),
    );
  }
  return outcomes;
}

async function relayRow(received: Received, site: Site, now: number, { store }: ConversionImport): Promise<Outcome> {
  const exit = await relay(received, site, now + dayMs, {
    store,
    lanes: queueOnly,
    now: () => now,
  });
  switch (exit.exit) {
    case "duplicate":
      return { status: "duplicate" };
    case "filtered":
      return { status: "filtered" };
    case "dispatched":
      return { status: "imported", results: exit.results };
  }
}

/** Sends nothing: the worker of any node claims the deliveries. */
const queueOnly: Lanes = {
  send: async () => ({ ok: false, status: "queued", error: "waits for the worker" }),
  withdraw: () => false,
  inHand: () => new Set(),
  capacity: () => 0,
  depths: () => [],
  idle: async () => {},
  close: async () => {},
};

function withLongDedup(site: Site): Site {
  const { dedupOrderMs, dedupNoOrderMs } = site.settings;
  const settings = {
    ...site.settings,
    dedupOrderMs: Math.max(dedupOrderMs, minDedupMs),
    dedupNoOrderMs: Math.max(dedupNoOrderMs, minDedupMs),
  };
  return { ...site, settings };
}

function readRow(cells: Cells, line: number, site: Site, now: number, { id, format }: ConversionImport): Received | string {
  const fields: Record<string, unknown> = { ...cells };
  for (const name of textFields) fields[name] = readCell(cells, name, format);
  const value = readCell(cells, "value", format);
  const money = typeof value === "string" ? readMoney(value, format.rules, format.delimiter) : null;
  if (money instanceof ValueFault) return money.said;
  fields.value = money ? money.amount : value;
  const time = readTime("eventTime", readCellText(cells, "eventTime", format), format.rules);
  if (time instanceof ValueFault) return time.said;
  fields.eventTime = time / 1000;
  const items = readItemsCell(readCell(cells, "items", format));
  if (items instanceof ValueFault) return items.said;
  fields.items = items;

  const read = readFields({ fields, exact: () => undefined }, site, now);
  if (read instanceof FieldFault) return read.said;
  if (money && !matchesCurrency(read.currency, money))
    return "value names another currency than the row has (default USD); choose a column or a constant for currency";
  const { keepEventsMs } = site.settings;
  if (time < now - keepEventsMs) return say("event_time_too_old", { days: Math.floor(keepEventsMs / dayMs) });
  const event = newEvent(read, {
    id: makeRowId(id, line, time),
    siteId: site.id,
    keyId: importKey,
    mode: "live",
    receivedAt: now,
    extra: readExtra({ ...cells }, site),
  });
  return { event, reservedId: reserveForWorkers(event.id), eventTime: time, emailDomain: read.emailDomain };
}

/** Makes an id with the time of the conversion, so that charts and lists sort it correctly. */
function makeRowId(importId: string, line: number, time: number): string {
  return idAt(time).slice(0, 10) + hash("sha256", `${importId}\n${line}`).slice(0, 16);
}
