// Runs an import, or its dry run, and reports.

import { hash } from "node:crypto";
import type { Connection, Directory, Site } from "../sites/directory.ts";
import { requireSettings } from "../sites/manage.ts";
import { newImportTally, type ImportTally } from "../kernel/imports.ts";
import { say } from "../kernel/messages/message.ts";
import { Refusal, type By } from "../kernel/refusal.ts";
import type { Acceptance, NewEvent } from "../store/events/events.ts";
import type { ImportKind, ImportRow } from "../store/sites/imports.ts";
import type { Store } from "../store/store.ts";
import { chooseColumns } from "./columns.ts";
import type { Mapping } from "../tables/columns.ts";
import { importConversions } from "./conversions.ts";
import { importIdentities } from "./identities.ts";
import { importOrders } from "./orders.ts";
import { run, type Progress, type RefusedRow, type RunOptions } from "./run.ts";
import type { Source } from "../tables/source.ts";
import { acquireImport, type Process } from "./importLease.ts";
import type { ValueRules } from "../tables/values.ts";

export type ImportRequest = {
  kind: ImportKind;
  source: Source;
  siteId: string;
  /** From --map. */
  requestedColumns: Mapping;
  defaults: Record<string, string>;
  rules: ValueRules;
  /** `all`, `none`, or platforms and connection ids. */
  deliver: string;
  dryRun: boolean;
  /** Of a file that is sent in parts. */
  part?: ImportPart;
};

export type ImportPart = {
  /** Lines of the file between its header and the first row of this part. */
  skippedLines: number;
  /** The lines up to the end of the header, which every part has. */
  headerLines: number;
  /** The last line of this part in the file. */
  endLine: number;
  /** True if others follow: the import is not done after this one. */
  hasMore: boolean;
};

export type Report = {
  id: string;
  kind: ImportKind;
  file: string;
  state: "dry run" | "done" | "stopped" | "done before";
  /** The last line of an earlier run; 0 for the first run. */
  resumedAfter: number;
  line: number;
  tally: ImportTally;
  /** Only for a dry run: duplicates of another row, and of a stored event. */
  duplicates: { inFile: number; known: number } | null;
  mapping: Mapping;
  unused: string[];
};

export type ImportContext = {
  store: Store;
  directory: Directory;
  by: By;
  process: Process;
  now: () => number;
  newId: () => string;
  stop: AbortSignal;
  onRefused: (rows: readonly RefusedRow[]) => void;
  onStart: (resumedAfter: number) => void;
  onProgress: (progress: Progress) => void;
};

type Job = {
  request: ImportRequest;
  context: ImportContext;
  report: Pick<Report, "id" | "kind" | "file" | "mapping" | "unused">;
  /** The site as it is now, with only the connections to deliver to. */
  site: () => Site;
};

export async function importFile(request: ImportRequest, context: ImportContext): Promise<Report> {
  const { kind, source, siteId, defaults, dryRun } = request;
  const { store, directory } = context;
  const { mapping, unused } = chooseColumns(kind, source.columns, request.requestedColumns, Object.keys(defaults));
  const id = await findImportId(request, mapping, context);
  const isWanted = connectionFilter(currentSite(directory, siteId), request.deliver);
  const site = (): Site => {
    const whole = currentSite(directory, siteId);
    return { ...whole, connections: whole.connections.filter(isWanted) };
  };
  const job: Job = { request, context, report: { id, kind, file: source.name, mapping, unused }, site };
  const before = await store.imports.find({ siteId, id });
  if (dryRun && before?.state === "done") return doneBefore(job, before);
  if (!dryRun && request.part && before?.state !== "done") refuseGap(request.part, before?.line ?? 0);
  return dryRun ? runDry(job) : runImport(job);
}

/** Rows of a part that was left out, or not sent to its end, would be lost: later parts count them as done. */
function refuseGap({ skippedLines, headerLines }: ImportPart, line: number): void {
  const known = Math.max(0, line - headerLines);
  if (skippedLines > known) throw new Refusal("skippedLines", say("skipped_too_many_lines", { skippedLines, known }));
}

async function runDry(job: Job): Promise<Report> {
  const { store, now, onStart } = job.context;
  const preview = createDryRun(store, now);
  const tally = newImportTally();
  onStart(0);
  const steps = await createSteps(job, preview.store);
  const running = run({ ...steps, after: 0, tally, save: async () => {}, paced: false });
  const { isDone, line } = await running.finally(steps.table.close);
  const duplicates = { inFile: preview.inFile(), known: preview.known() };
  return { ...job.report, state: isDone ? "dry run" : "stopped", resumedAfter: 0, line, tally, duplicates };
}

async function runImport(job: Job): Promise<Report> {
  const { request, context, report } = job;
  const { store, now } = context;
  const { kind, source, siteId, deliver } = request;
  const audit = (action: string, more: Record<string, unknown>) => {
    const detail = { import: report.id, kind, file: source.name, deliver, ...more };
    return { siteId, actor: context.by.actor, action, detail, at: now() };
  };
  const options = { deliver, mapping: report.mapping, ...(source.sha256 ? { sha256: source.sha256 } : {}) };
  const wanted = { siteId, id: report.id, kind, file: source.name, options, tally: newImportTally() };
  const lease = await acquireImport(store, wanted, context.process, now, audit("import started", {}));
  if ("done" in lease) return doneBefore(job, lease.done);

  const { line: after } = lease.row;
  const tally = lease.row.tally as ImportTally;
  context.onStart(after);
  const save = (line: number, sum: ImportTally) => {
    source.check();
    return lease.save(line, sum);
  };
  const steps = await createSteps(job, store);
  const end = await run({ ...steps, after, tally, save, paced: true }).finally(steps.table.close);
  const isDone = end.isDone && !request.part?.hasMore;
  // The last row may have several lines, and empty ones may follow.
  const line = Math.max(end.line, end.isDone ? (request.part?.endLine ?? 0) : 0);
  // The final statistics of past hours lack the imported events, so they are computed again.
  if (kind === "conversions" && tally.imported > 0) await store.statistics.restart(siteId);
  const { rows, imported, duplicates, filtered, refused } = tally;
  const done = isDone ? audit("import done", { rows, imported, duplicates, filtered, refused }) : null;
  await lease.end(isDone ? "done" : "stopped", line, tally, done);
  const state = isDone ? "done" : "stopped";
  return { ...report, state, resumedAfter: after, line, tally, duplicates: null };
}

async function createSteps({ request, context, report, site }: Job, into: Store) {
  const { mapping, id } = report;
  const { kind, dryRun } = request;
  const table = await request.source.open();
  const format = { mapping, defaults: request.defaults, rules: request.rules, delimiter: table.delimiter };
  const options = { id, store: into, site, format, now: context.now, dryRun };
  const importRows: RunOptions["importRows"] = (rows) => {
    if (kind === "orders") return importOrders(rows, options);
    return kind === "conversions" ? importConversions(rows, options) : importIdentities(rows, options);
  };
  return {
    store: context.store,
    table,
    site,
    refresh: () => context.directory.refresh(),
    importRows,
    onRefused: context.onRefused,
    onProgress: context.onProgress,
    stop: context.stop,
  };
}

function doneBefore({ report }: Job, { line, tally }: ImportRow): Report {
  return {
    ...report,
    state: "done before",
    resumedAfter: 0,
    line,
    tally: tally as ImportTally,
    duplicates: null,
  };
}

async function findImportId(request: ImportRequest, mapping: Mapping, context: ImportContext): Promise<string> {
  const id = makeImportId(request, mapping);
  if (id === null) return context.newId();
  // Another list may have been uploaded since: the orders of this one count again.
  const isDone = async () => (await context.store.imports.find({ siteId: request.siteId, id }))?.state === "done";
  return request.kind === "orders" && (await isDone()) ? context.newId() : id;
}

/** The same file with the same options for the same site is the same import. Piped input is always a new one. */
function makeImportId({ kind, source, siteId, defaults, rules }: ImportRequest, mapping: Mapping): string | null {
  if (source.sha256 === null) return null;
  const sorted = (pairs: Record<string, unknown>) => Object.entries(pairs).toSorted(([one], [other]) => (one < other ? -1 : 1));
  const parts = [kind, siteId, source.sha256, sorted(mapping), sorted(defaults), sorted(rules)];
  return hash("sha256", JSON.stringify(parts)).slice(0, 20);
}

function currentSite(directory: Directory, id: string): Site {
  const site = directory.site(id);
  if (!site) throw new Refusal("site", say("site_removed"));
  requireSettings(site);
  return site;
}

function connectionFilter({ connections }: Site, deliver: string): (connection: Connection) => boolean {
  if (deliver === "all") return () => true;
  if (deliver === "none") return () => false;
  const names = deliver.split(",").map((name) => name.trim());
  for (const name of names) {
    if (connections.some(({ id, platform }) => id === name || platform === name)) continue;
    const known = connections.map(({ id, platform }) => `${platform} (${id})`).join(", ") || "none";
    throw new Refusal("deliver", say("unknown_connection_of_site", { name, known }));
  }
  return ({ id, platform }) => names.includes(id) || names.includes(platform);
}

type DryRun = { store: Store; inFile: () => number; known: () => number };

/** Opens a store that checks whether an event would be accepted, and writes nothing. */
function createDryRun(store: Store, now: () => number): DryRun {
  const claims = new Set<string>();
  let inFile = 0;
  let known = 0;

  async function accept(item: NewEvent): Promise<Acceptance> {
    const { event, claim } = item;
    if (claims.has(claim)) {
      inFile += 1;
      return { duplicate: true };
    }
    claims.add(claim);
    const original = await store.imports.findOriginal(item, now());
    // It is the row itself when an earlier run of this import was stopped after it.
    if (original === null || original === event.id)
      return { duplicate: false, platformEventId: event.id, ...((await isRepeated(item)) && { isRepeated: true }) };
    known += 1;
    return { duplicate: true };
  }

  async function isRepeated({ event, stage, filterReasons }: NewEvent): Promise<boolean> {
    if (!stage || filterReasons.length > 0) return false;
    const first = claims.has(stage.claim) ? "" : await store.events.findIdByClaim(event.siteId, stage.claim);
    claims.add(stage.claim);
    return first !== null && first !== event.id;
  }

  return {
    store: {
      ...store,
      events: { ...store.events, accept },
      imports: { ...store.imports, markHours: async () => {} },
    },
    inFile: () => inFile,
    known: () => known,
  };
}
