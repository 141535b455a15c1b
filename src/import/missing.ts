// Sends orders that a reconciliation found missing. Each runs through the pipeline like a row of an import, so duplicates,
// filters, consent and the platforms' age limits apply. A part is small enough for one request; its cursor leads to the next.

import { hash } from "node:crypto";
import { missingColumns, readMissingPage, type MissingPart, type SentMissing } from "../reconcile/missing.ts";
import type { By } from "../kernel/refusal.ts";
import type { Site } from "../sites/directory.ts";
import { auditLine } from "../sites/manage.ts";
import type { Run } from "../store/reconciliation/runs.ts";
import type { Tally } from "../store/reconciliation/tally.ts";
import type { Store } from "../store/store.ts";
import type { TableRow } from "../tables/table.ts";
import { importConversions } from "./conversions.ts";
import { findCapacity } from "./run.ts";

/** A commit of this many events blocks others for a few milliseconds. */
const maxPart = 100;

type SendOptions = {
  store: Store;
  /** With only the connections to deliver to. */
  site: Site;
  by: By;
};

export async function sendMissing(
  { store, site, by }: SendOptions,
  run: Run,
  { after, withSimilar }: MissingPart,
): Promise<SentMissing> {
  const part: SentMissing = {
    sent: 0,
    withoutEmail: 0,
    receivedSince: 0,
    similar: 0,
    filtered: 0,
    refused: 0,
    reasons: {},
    next: after,
    waitingFor: null,
  };
  if (after === "") {
    const missing = (run.tally as Partial<Tally>).classes?.missing_here ?? 0;
    const detail = { id: run.id, missing, ...(withSimilar && { withSimilar }) };
    await store.audit.add(auditLine(site.id, "missing orders sent", detail, by));
  }
  const { rows: capacity, fullest } = await findCapacity(store, site.connections, maxPart);
  const isFull = capacity <= 0;
  const limit = isFull ? maxPart : capacity;
  const options = { store, timeZone: site.settings.timeZone, withSimilar };
  const { orders, withoutEmail, receivedSince, similar, next } = await readMissingPage(options, run, { after, limit });
  // Where nothing is left to send, a full queue is no reason to wait.
  if (isFull && orders.size > 0) return { ...part, waitingFor: fullest?.platform ?? null };
  const rows = [...orders].map(([key, cells]): TableRow => ({
    line: lineOf(key),
    bytes: 0,
    cells: { ...cells },
  }));
  const outcomes = await importConversions(rows, {
    // The same order of the same run is the same event: a part that is sent again writes nothing twice.
    id: run.id,
    store,
    site: () => site,
    format: {
      mapping: Object.fromEntries(missingColumns.map((name) => [name, name])),
      defaults: {},
      rules: { timeZone: "UTC", dates: null, decimal: null },
      delimiter: null,
    },
    now: () => by.now,
  });
  Object.assign(part, { withoutEmail, receivedSince, similar, next });
  for (const outcome of outcomes) {
    if (outcome.status === "imported") part.sent += 1;
    else if (outcome.status === "duplicate") part.receivedSince += 1;
    else if (outcome.status === "filtered") part.filtered += 1;
    else {
      part.refused += 1;
      part.reasons[outcome.reason] = (part.reasons[outcome.reason] ?? 0) + 1;
    }
  }
  // The final statistics of past hours lack these events, so they are computed again.
  if (part.sent > 0) await store.statistics.restart(site.id);
  return part;
}

/** Stands for the line of a file: the same for the same order. */
const lineOf = (key: string) => Number.parseInt(hash("sha256", key).slice(0, 12), 16);
