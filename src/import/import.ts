// An import from its beginning to its report.

import { hash } from "node:crypto";
import type { Connection, Directory, Site } from "../sites/directory.ts";
import { Refusal, type By } from "../kernel/refusal.ts";
import type { ImportKind, ImportRow } from "../store/sites/imports.ts";
import type { Store } from "../store/store.ts";
import { chooseColumns, type Mapping } from "./columns.ts";
import { takeConversions } from "./conversions.ts";
import { takeIdentities } from "./identities.ts";
import { rehearse } from "./dryRun.ts";
import { run, type Progress, type RefusedRow, type RunOptions } from "./run.ts";
import type { Source } from "./source.ts";
import { newTally, type Tally } from "./tally.ts";
import { takeTurn, type Process } from "./importLease.ts";
import type { ValueRules } from "./values.ts";

export type Order = {
  kind: ImportKind;
  source: Source;
  siteId: string;
  said: Mapping;
  defaults: Record<string, string>;
  rules: ValueRules;
  /** `all`, `none`, or platforms and connection ids. */
  deliver: string;
  dryRun: boolean;
};

export type Report = {
  id: string;
  kind: ImportKind;
  file: string;
  state: "dry run" | "done" | "stopped" | "done before";
  /** The line after which an earlier run had ended; 0 for a first one. */
  resumedAfter: number;
  line: number;
  tally: Tally;
  /** Known of a dry run: how many repeat a row of the file, how many an event that is stored. */
  duplicates: { inFile: number; known: number } | null;
  mapping: Mapping;
  unused: string[];
};

export type Surroundings = {
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
  order: Order;
  around: Surroundings;
  report: Pick<Report, "id" | "kind" | "file" | "mapping" | "unused">;
  /** With the connections that it delivers to, as they are now. */
  site: () => Site;
};

export async function importFile(order: Order, around: Surroundings): Promise<Report> {
  const { kind, source, siteId, defaults, dryRun } = order;
  const { store, directory } = around;
  const { mapping, unused } = chooseColumns(kind, source.columns, order.said, Object.keys(defaults));
  const id = identify(order, mapping) ?? around.newId();
  const isWanted = chooser(siteNow(directory, siteId), order.deliver);
  const site = (): Site => {
    const whole = siteNow(directory, siteId);
    return { ...whole, connections: whole.connections.filter(isWanted) };
  };
  const job: Job = { order, around, report: { id, kind, file: source.name, mapping, unused }, site };
  const before = dryRun ? await store.imports.find({ siteId, id }) : null;
  if (before?.state === "done") return doneBefore(job, before);
  return dryRun ? tryOut(job) : takeIn(job);
}

async function tryOut(job: Job): Promise<Report> {
  const { store, now, onStart } = job.around;
  const rehearsal = rehearse(store, now);
  const tally = newTally();
  onStart(0);
  const steps = await stepsOf(job, rehearsal.store);
  const { isWhole, line } = await run({ ...steps, after: 0, tally, save: async () => {}, paced: false });
  const duplicates = { inFile: rehearsal.inFile(), known: rehearsal.known() };
  return { ...job.report, state: isWhole ? "dry run" : "stopped", resumedAfter: 0, line, tally, duplicates };
}

async function takeIn(job: Job): Promise<Report> {
  const { order, around, report } = job;
  const { store, now } = around;
  const { kind, source, siteId, deliver } = order;
  const audit = (action: string, more: Record<string, unknown>) => {
    const detail = { import: report.id, kind, file: source.name, deliver, ...more };
    return { siteId, actor: around.by.actor, action, detail, at: now() };
  };
  const options = { deliver, mapping: report.mapping, ...(source.hash ? { sha256: source.hash } : {}) };
  const made = { siteId, id: report.id, kind, file: source.name, options, tally: newTally() };
  const turn = await takeTurn(store, made, around.process, now, audit("import started", {}));
  if ("done" in turn) return doneBefore(job, turn.done);

  const { line: after } = turn.row;
  const tally = turn.row.tally as Tally;
  around.onStart(after);
  const save = (line: number, sum: Tally) => {
    source.check();
    return turn.save(line, sum);
  };
  const { isWhole, line } = await run({ ...(await stepsOf(job, store)), after, tally, save, paced: true });
  // Charts are made an hour at a time, and these hours are over.
  if (kind === "conversions" && tally.imported > 0) await store.statistics.restart(siteId);
  const { rows, imported, duplicates, filtered, refused } = tally;
  const done = isWhole ? audit("import done", { rows, imported, duplicates, filtered, refused }) : null;
  await turn.end(isWhole ? "done" : "stopped", line, tally, done);
  const state = isWhole ? "done" : "stopped";
  return { ...report, state, resumedAfter: after, line, tally, duplicates: null };
}

async function stepsOf({ order, around, report, site }: Job, into: Store) {
  const { mapping, id } = report;
  const { kind, dryRun } = order;
  const table = await order.source.open();
  const reading = { mapping, defaults: order.defaults, rules: order.rules, delimiter: table.delimiter };
  const on = { id, store: into, site, reading, now: around.now, dryRun };
  const take: RunOptions["take"] = (rows) =>
    kind === "conversions" ? takeConversions(rows, on) : takeIdentities(rows, on);
  return {
    store: around.store,
    table,
    site,
    refresh: () => around.directory.refresh(),
    take,
    onRefused: around.onRefused,
    onProgress: around.onProgress,
    stop: around.stop,
  };
}

function doneBefore({ report }: Job, { line, tally }: ImportRow): Report {
  return { ...report, state: "done before", resumedAfter: 0, line, tally: tally as Tally, duplicates: null };
}

/** The same file, read in the same way, for the same site is the same import; what is piped in is a new one each time. */
function identify({ kind, source, siteId, defaults, rules }: Order, mapping: Mapping): string | null {
  if (source.hash === null) return null;
  const sorted = (pairs: Record<string, unknown>) =>
    Object.entries(pairs).toSorted(([one], [other]) => (one < other ? -1 : 1));
  const parts = [kind, siteId, source.hash, sorted(mapping), sorted(defaults), sorted(rules)];
  return hash("sha256", JSON.stringify(parts)).slice(0, 20);
}

function siteNow(directory: Directory, id: string): Site {
  const site = directory.site(id);
  if (!site) throw new Refusal("site", "The site is gone.");
  return site;
}

function chooser({ connections }: Site, deliver: string): (connection: Connection) => boolean {
  if (deliver === "all") return () => true;
  if (deliver === "none") return () => false;
  const names = deliver.split(",").map((name) => name.trim());
  for (const name of names) {
    if (connections.some(({ id, platform }) => id === name || platform === name)) continue;
    const known = connections.map(({ id, platform }) => `${platform} (${id})`).join(", ") || "none";
    throw new Refusal("deliver", `The site has no connection ${name}. Its connections: ${known}.`);
  }
  return ({ id, platform }) => names.includes(id) || names.includes(platform);
}
