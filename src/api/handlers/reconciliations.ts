// Serves reconciliation: the list of orders, its feed, runs, their report and rows.

import type { Answer } from "../../contract/contract.ts";
import type { reconciliationRoutes } from "../../contract/reconciliation.ts";
import { say } from "../../kernel/messages/message.ts";
import { Refusal } from "../../kernel/refusal.ts";
import { correctRows } from "../../reconcile/correct.ts";
import { cancelRun, findRun, startRun } from "../../reconcile/manage.ts";
import { fetchSoon, removeFeed, setFeed } from "../../reconcile/feed.ts";
import { missingCells, missingColumns, readMissing } from "../../reconcile/missing.ts";
import { makeReport } from "../../reconcile/report.ts";
import { listRows, type RowFilter } from "../../reconcile/rows.ts";
import type { Tally } from "../../store/reconciliation/tally.ts";
import { uploadOrders, writeListedOrders, type UploadTally } from "../../reconcile/uploadOrders.ts";
import { auditLine, requireSettings } from "../../sites/manage.ts";
import type { Site } from "../../sites/directory.ts";
import type { CorrectionRow } from "../../store/corrections/corrections.ts";
import type { Feed } from "../../store/reconciliation/feeds.ts";
import type { Run, RunRow } from "../../store/reconciliation/runs.ts";
import { writeCsv, type CsvText } from "../../tables/formulas.ts";
import { isTimeZone } from "../../tables/values.ts";
import { reloadSite, type Handlers } from "../call.ts";
import type { ApiContext } from "../context.ts";
import { listOf, setFileName, toCsv, type Column } from "../lists.ts";

type DescribedRun = Answer<"POST /sites/:site/reconciliations">["reconciliation"];
type DescribedFeed = Answer<"PUT /sites/:site/order-feed">["feed"];
type RowQuery = Omit<RowFilter, "attributed"> & { attributed?: "true" | "false" | undefined };

export function reconciliationHandlers({
  store,
  directory,
  allowPrivate,
  sendMissing,
  now,
}: ApiContext): Handlers<keyof typeof reconciliationRoutes> {
  return {
    async "GET /sites/:site/orders"({ site }) {
      const feed = await store.orderFeeds.find(site.id);
      return { ...(await store.orders.summarize(site.id)), feed: feed && describeFeed(feed, now()) };
    },

    async "POST /sites/:site/orders"({ site, body, by }) {
      requireSettings(site);
      const target = { store, siteId: site.id, now: by.now };
      return writeListedOrders(target, body.orders, site.settings.timeZone);
    },

    async "POST /sites/:site/orders/upload"({ site, query, upload, by }) {
      requireSettings(site);
      const { timeZone = site.settings.timeZone, dates = null, decimal = null } = query;
      if (!isTimeZone(timeZone)) throw new Refusal("timeZone", say("time_zone_invalid"));
      // Loaded on demand: a relay that starts needs no CSV parser.
      const { readTable } = await import("../../tables/readTable.ts");
      const table = await readTable(site.id, piecesOf(upload), "The file");
      const format = { requested: {}, rules: { timeZone, dates, decimal } };
      const target = { store, siteId: site.id, now: by.now };
      const tally = await uploadOrders(target, table, format).finally(table.close);
      const { written, refused } = tally;
      await store.audit.add(auditLine(site.id, "orders uploaded", { written, refused }, by));
      return tally;
    },

    async "PUT /sites/:site/order-feed"({ site, body, by }) {
      const feed = await setFeed(store, site, body, { ...by, allow: allowPrivate });
      return { feed: describeFeed(feed, by.now) };
    },

    async "DELETE /sites/:site/order-feed"({ site, by }) {
      await removeFeed(store, site.id, by);
      return {};
    },

    async "POST /sites/:site/order-feed/fetch"({ site }) {
      await fetchSoon(store, site.id);
      return {};
    },

    async "GET /sites/:site/reconciliations"({ site }) {
      return { items: (await store.reconciliations.list(site.id)).map(describeRun) };
    },

    async "POST /sites/:site/reconciliations"({ site, body, by }) {
      const run = await startRun(store, await reloadSite(directory, site), body, by);
      return { reconciliation: describeRun(run) };
    },

    async "GET /sites/:site/reconciliations/:run"({ site, params }) {
      const run = await findRun(store, site.id, params.run);
      return { reconciliation: { ...describeRun(run), ...makeReport(run, site.connections) } };
    },

    async "POST /sites/:site/reconciliations/:run/cancel"({ site, params, by }) {
      const run = await findRun(store, site.id, params.run);
      return { reconciliation: describeRun(await cancelRun(store, run, by)) };
    },

    async "GET /sites/:site/reconciliations/:run/rows"({ site, params, query }) {
      const run = await findRun(store, site.id, params.run);
      const at = { after: readRowCursor(query.cursor), limit: query.limit };
      const { rows, next } = await listRows(store, run, toFilter(query), at);
      const eventIds = rows.flatMap(({ eventId }) => eventId ?? []);
      const corrections = await store.corrections.listByEvents(site.id, eventIds);
      return { items: rows.map((row) => describeRow(row, corrections)), next };
    },

    async "GET /sites/:site/reconciliations/:run/rows.csv"({ site, params, query, reply }) {
      const run = await findRun(store, site.id, params.run);
      setFileName(reply, "reconciliation", site.hosts[0], now());
      return toCsv(rowColumns, listOf(site), async (cursor: string | null, limit) => {
        const { rows, next } = await listRows(store, run, toFilter(query), { after: cursor ?? "", limit });
        return { rows: rows.flatMap(rowsOf), next };
      });
    },

    async "POST /sites/:site/reconciliations/:run/missing/send"({ site, params, body, by }) {
      const run = await findRun(store, site.id, params.run);
      const part = { after: readRowCursor(body.cursor), withSimilar: body.withSimilar };
      return sendMissing(await readySite(directory, site), run, part, by);
    },

    async "POST /sites/:site/reconciliations/:run/corrections"({ site, params, body, by }) {
      const run = await findRun(store, site.id, params.run);
      const at = { class: body.class, after: readRowCursor(body.cursor) };
      return correctRows(store, await readySite(directory, site), { run, ...at }, by);
    },

    async "GET /sites/:site/reconciliations/:run/missing.csv"({ site, params, reply }) {
      const run = await findRun(store, site.id, params.run);
      setFileName(reply, "missing-orders", site.hosts[0], now());
      return writeMissing(readMissing({ store, timeZone: site.settings.timeZone }, run));
    },
  };
}

async function readySite(directory: ApiContext["directory"], site: Site): Promise<Site> {
  const current = await reloadSite(directory, site);
  requireSettings(current);
  return current;
}

async function* piecesOf(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}

async function* writeMissing(pages: ReturnType<typeof readMissing>): AsyncGenerator<CsvText> {
  yield writeCsv([missingColumns]);
  for await (const { orders } of pages) if (orders.size) yield writeCsv([...orders.values()].map(missingCells));
}

/** A cursor is the id of a row: an order with or without an id, or an event. */
function readRowCursor(text: string | undefined): string {
  if (text === undefined || /^[=~!]/.test(text)) return text ?? "";
  throw new Refusal("cursor", say("cursor_invalid"), "--cursor must be the `next` of a page.");
}

function toFilter({ class: one, attributed, ...rest }: RowQuery): RowFilter {
  const { filtered, connection, state, reason, confirmation, confirmationReason } = rest;
  if (connection === undefined && [state, reason, attributed, confirmation].some((value) => value !== undefined))
    throw new Refusal("connection", say("connection_filter_needed"));
  if (confirmation === undefined && confirmationReason !== undefined)
    throw new Refusal("confirmation", say("confirmation_filter_needed"));
  if (state === undefined && reason !== undefined) throw new Refusal("state", say("state_filter_needed"));
  return {
    class: one,
    filtered,
    connection,
    state,
    reason,
    attributed: attributed === undefined ? undefined : attributed === "true",
    confirmation,
    confirmationReason,
  };
}

function describeRun({ tally, ...run }: Run): DescribedRun {
  const { id, state, from, to, event, tolerance, startedBy, startedAt, updatedAt } = run;
  const { orders = 0, received = 0 } = tally as Partial<Tally>;
  return { id, state, from, to, event, tolerance, startedBy, startedAt, updatedAt, orders, received };
}

function describeFeed({ address, options, dueAt, fetchedAt, error, tally }: Feed, now: number): DescribedFeed {
  return {
    url: address ? `${new URL(address.url).origin}/…` : "(cannot be read)",
    header: address?.header?.name ?? null,
    columns: (options.columns ?? {}) as Record<string, string>,
    nextAt: dueAt <= now ? null : dueAt,
    fetchedAt,
    error,
    last: fetchedAt === null ? null : (tally as UploadTally),
  };
}

function describeRow({ siteId: _site, runId: _run, ...row }: RunRow, corrections: readonly CorrectionRow[]) {
  const ofEvent = corrections.filter(({ eventId }) => eventId === row.eventId);
  const outcomes = row.outcomes.map((outcome) => {
    const found = ofEvent.find(({ connectionId }) => connectionId === outcome.connectionId);
    return { ...outcome, correction: found ? { state: found.state, value: found.value } : null };
  });
  return { ...row, outcomes };
}

/** An order has a row for each delivery of its event, and one row if it has none. */
type CsvRow = RunRow & { outcome: RunRow["outcomes"][number] | null };

const rowsOf = (row: RunRow): CsvRow[] =>
  row.outcomes.length ? row.outcomes.map((outcome) => ({ ...row, outcome })) : [{ ...row, outcome: null }];

const rowColumns: readonly Column<CsvRow>[] = [
  { title: "order", cell: (row) => row.orderId },
  { title: "class", cell: (row) => row.class },
  { title: "found by", cell: (row) => row.foundBy },
  { title: "time", at: (row) => row.time },
  { title: "order value", cell: (row) => row.orderValue },
  { title: "order currency", cell: (row) => row.orderCurrency },
  { title: "order status", cell: (row) => row.orderStatus },
  { title: "event", cell: (row) => row.eventId },
  { title: "event value", cell: (row) => row.eventValue },
  { title: "event currency", cell: (row) => row.eventCurrency },
  { title: "filtered", cell: (row) => row.filtered },
  { title: "platform", cell: ({ outcome }) => outcome?.platform ?? null },
  { title: "state", cell: ({ outcome }) => outcome?.state ?? null },
  { title: "reason", cell: ({ outcome }) => outcome?.reason ?? null },
  { title: "confirmation", cell: ({ outcome }) => outcome?.confirmation?.state ?? null },
];
