// Moves one site to another installation while both work.
//
//  1. Rows are copied in passes while the site goes on working here. Nobody there sees them: the site itself comes last.
//  2. The site becomes read-only here. Nodes answer 503 with Retry-After, and the database refuses events, so that a node that has
//     not heard of it cannot accept one either. Deliveries that nodes have in hand end, then nothing can be written any more.
//  3. The last changes are copied, and rows are counted and compared.
//  4. One transaction there writes the site with its deliveries that wait: it is live there.
//  5. One transaction here marks it as moved, and removes its connections, webhooks and deliveries that wait.
//
// A process that dies leaves the site working here (step 1), read-only (2 to 4) or live there (5). The same command continues:
// what decides is the state that is stored there. Two processes cannot disturb each other, see siteMoves.ts.

import { setTimeout as sleep } from "node:timers/promises";
import { Conflict, type By } from "../../kernel/refusal.ts";
import { nodeStore } from "../../store/deliveries/nodes.ts";
import {
  changeState,
  countLeased,
  endHere,
  endLeases,
  findClashes,
  findMissingApps,
  findSiteThere,
  goLive,
  isImporting,
  readMembers,
  type LiveRows,
  type MovedMember,
} from "../../store/maintenance/siteHandover.ts";
import { lockTables, lockTogether, unlockTables } from "../../store/maintenance/siteLock.ts";
import { createCopy, type Copy } from "../../store/copy/copy.ts";
import { deleteSomeRows, pageRows, readPages, readTable, type Side, type Table } from "../../store/copy/rows.ts";
import {
  acceptanceTables,
  claimTables,
  countTables,
  historyTables,
  liveTables,
  lockedTables,
} from "../../store/copy/siteTables.ts";
import { writeAudit, type AuditLine } from "../../store/sites/audit.ts";
import { readSiteMove, removeSiteMove, setMoveState, takeSiteMove, type SiteMove } from "../../store/sites/siteMoves.ts";
import type { Database, Query } from "../../store/engine/database.ts";
import { copyUntilShort } from "./copyPasses.ts";

/** An installation, and its name for people. */
export type Installation = Side<Database> & { name: string };

export type SiteMovePlan = {
  siteId: string;
  from: Installation;
  to: Installation;
  by: By;
  newId: () => string;
  now: () => number;
  /** True where no node runs here, so that what nodes have in hand is nobody's. Asked when the site is read-only. */
  hasNoNode: () => boolean;
  /** Deliveries in hand must have ended by then. */
  drainMs: number;
  /** Nodes read the state of the site, and write their last counts, within this time. */
  settleMs?: number;
  /** Reports progress to a person. */
  report: (text: string) => void;
};

export type SiteMoved = {
  rows: number;
  /** The time for which this run made the site read-only; null where an earlier run handed it over. */
  readOnlyMs: number | null;
  members: MovedMember[];
};

const defaultSettleMs = 2500;
const drainPollMs = 100;

type Running = SiteMovePlan & { move: SiteMove };

export async function moveSite(plan: SiteMovePlan): Promise<SiteMoved> {
  const { siteId, from, to } = plan;
  const [here, there] = [await readSiteMove(from.db, siteId), await readSiteMove(to.db, siteId)];
  if (here?.state === "moved") {
    // A run that was killed at its very end has left the tables locked.
    await unlockTables(from.db, siteId, lockedTables);
    throw new Conflict("site", `The site was moved already, to ${here.peer}.`);
  }
  const begun = here?.state === "copying" || here?.state === "locked" ? here : null;
  if (begun && begun.peer !== to.name)
    throw new Conflict(
      "to",
      `The site is being moved to ${begun.peer}. Continue that move, or end it with --abort and --to ${begun.peer}.`,
    );
  if (there && there.moveId !== begun?.moveId && there.state !== "live")
    throw new Conflict("to", `${to.name} is receiving or moving a site of this id already.`);
  const moveId = begun?.moveId ?? plan.newId();
  const move: SiteMove = { siteId, moveId, runId: plan.newId(), state: "copying", peer: to.name };
  const running = { ...plan, move };
  if (begun && there?.moveId === moveId && there.state === "live") return finishEarlier(running);
  await refuseUnfit(plan, begun !== null);
  await begin(running, begun !== null);
  // An earlier run was killed while the site was read-only: it works again until the copy is up to date.
  if (begun?.state === "locked") await unlock(running);
  return copyAndHandOver(running);
}

/** Refuses what cannot be moved, before anything is written. */
async function refuseUnfit({ siteId, from, to, now }: SiteMovePlan, isBegun: boolean): Promise<void> {
  const known = await findSiteThere(to.db, siteId);
  if (known === "present") throw new Conflict("to", `${to.name} has a site of this id already. Is it the same installation?`);
  if (known === "being purged")
    throw new Conflict("to", `${to.name} is still deleting an earlier site of this id. Try again in an hour.`);
  const [clash] = await findClashes(from.db, to.db, siteId);
  if (clash) throw new Conflict("to", `${to.name} has the ${clash.kind} ${clash.name} already. Remove it there first.`);
  const apps = await findMissingApps(from, to.db, siteId);
  if (apps.length > 0)
    throw new Conflict(
      "to",
      `${to.name} has no OAuth app, or another one, for ${apps.join(", ")}: its tokens could not be renewed there. Set the same app there first.`,
    );
  if (!isBegun && (await isImporting(from.db, siteId, now())))
    throw new Conflict("site", "A file is being imported into this site. Wait for its end.");
}

async function begin({ move, from, to, by, newId, now }: Running, isBegun: boolean): Promise<void> {
  const line = auditOf(move.siteId, "site move started", { to: to.name }, by);
  const auditId = newId();
  await from.db.write(async (tx) => {
    await takeSiteMove(tx, move, now());
    if (!isBegun) await writeAudit(tx, auditId, line);
  });
  await to.db.write(async (tx) => {
    await takeSiteMove(tx, { ...move, state: "arriving", peer: from.name }, now());
  });
}

const auditOf = (siteId: string, action: string, detail: Record<string, unknown>, by: By): AuditLine => ({
  siteId,
  actor: by.actor,
  action,
  detail,
  at: by.now,
});

async function copyAndHandOver(running: Running): Promise<SiteMoved> {
  const { from, to, move, now, report } = running;
  const copy = createCopy({
    from,
    to,
    tables: await tablesOf(running, historyTables),
    // No other process may continue the move: it may be about to hand the site over.
    beforeWrite: (tx) => setMoveState(tx, move, "arriving", now()),
  });
  await copyUntilShort(copy, report);
  const startedAt = performance.now();
  let ready: Ready;
  try {
    await lock(running, copy);
    ready = await copyTheRest(running, copy);
  } catch (error) {
    // Nothing was handed over, so the site goes on here at once.
    await unlock(running).catch(() => report("The site is still read-only: run the same command again."));
    throw error;
  }
  report(`${ready.rows} rows are compared. Handing the site over to ${to.name}.`);
  await handOver(running, ready);
  report("The site is live there.");
  await end(running);
  return {
    rows: ready.rows,
    readOnlyMs: performance.now() - startedAt,
    members: ready.members.map(toMember),
  };
}

/** The columns must be the same on both sides: both have the schema of this version. */
async function tablesOf({ from, to, siteId }: Running, names: readonly string[]): Promise<Table[]> {
  const tables: Table[] = [];
  for (const name of names) {
    const [here, there] = [await readTable(from.db, name, siteId), await readTable(to.db, name, siteId)];
    if (here.columns.toSorted().join() !== there.columns.toSorted().join())
      throw new Conflict("to", `The table ${name} differs between the two databases.`);
    tables.push(here);
  }
  return tables;
}

/** Makes the site read-only: first for events, and when nodes have nothing in hand any more, for everything. */
async function lock(running: Running, copy: Copy): Promise<void> {
  const { move, from, now, drainMs, settleMs = defaultSettleMs, hasNoNode, report } = running;
  const { siteId } = move;
  const startedAt = performance.now();
  await changeState(from.db, { move, state: "locked", now: now() });
  await lockTables(from.db, siteId, acceptanceTables);
  report("The site is read-only for a moment: senders get 503 and try again.");
  // Copies while nodes read the new state: less is left for the moment when nothing can be written.
  await copy.pass();
  const nodes = nodeStore(from.db, now);
  for (;;) {
    const isSettled = performance.now() - startedAt >= settleMs;
    const isAlone = hasNoNode();
    const inHand = (await nodes.settleSite(siteId, now(), isAlone)) + (isAlone ? 0 : await countLeased(from.db, siteId, now()));
    if (inHand === 0 && isSettled && (await lockAll(running))) return;
    if (performance.now() - startedAt > drainMs)
      throw new Conflict(
        "site",
        `Nodes still have ${inHand || "new"} deliveries of this site in hand. The site goes on working here; run the same command again.`,
      );
    await sleep(drainPollMs);
  }
}

/** False where a node that reads the state of the site late has claimed something in the last moment. Its delivery has to end first. */
async function lockAll({ move: { siteId }, from, now, hasNoNode }: Running): Promise<boolean> {
  await endLeases(from.db, siteId, now(), hasNoNode());
  // First, and only while nothing is claimed: the outcome of a delivery that was made could not be written any more, and it would
  // be made there again.
  const isFree = async (tx: Query) => (await countLeased(from.db, siteId, now(), tx)) === 0;
  if (!(await lockTogether(from.db, siteId, claimTables, isFree))) return false;
  await lockTables(from.db, siteId, lockedTables);
  return true;
}

/** The state comes first: it fails where another process continues the move. */
async function unlock({ move, from, now }: Pick<Running, "move" | "from" | "now">): Promise<void> {
  await changeState(from.db, { move, state: "copying", now: now() });
  await unlockTables(from.db, move.siteId, lockedTables);
  await unlockTables(from.db, move.siteId, acceptanceTables);
}

type Ready = { rows: number; live: LiveRows[]; members: Awaited<ReturnType<typeof readMembers>> };

/** Copies what is left, compares, and reads what is handed over. Nothing of the site can be written now. */
async function copyTheRest(running: Running, copy: Copy): Promise<Ready> {
  const { from, to, move } = running;
  const { total, differing } = await copy.pass({ isLocked: true });
  // Nodes count requests all the time, also those that they refuse.
  const wrong = differing.find(({ table }) => !countTables.includes(table));
  if (wrong)
    throw new Conflict(
      "to",
      `The table ${wrong.table} has ${wrong.here} rows here and ${wrong.there} there: another program changes them. Run the same command again.`,
    );
  const live: LiveRows[] = [];
  for (const table of await tablesOf(running, liveTables))
    live.push({ table, rows: (await Array.fromAsync(readPages(from, table))).flat() });
  const rows = live.reduce((sum, one) => sum + one.rows.length, total);
  return {
    rows,
    live: withoutApiKeysOfOthers(live),
    members: await readMembers(from.db, to.db, move.siteId),
  };
}

/** Inbound keys name the API key that made them. One for all sites stays here. */
function withoutApiKeysOfOthers(live: readonly LiveRows[]): LiveRows[] {
  const moved = new Set(live.find(({ table }) => table.name === "api_keys")?.rows.map((row) => row["id"]));
  return live.map(({ table, rows }) => ({
    table,
    rows:
      table.name === "inbound_keys"
        ? rows.map((row) => (moved.has(row["api_key_id"] ?? null) ? row : { ...row, api_key_id: null }))
        : rows,
  }));
}

/**
 * From the commit on, the site is live there. After an error it is not known whether it was committed, or will be. Taking the move
 * under another run waits for that transaction: if it succeeds, the site can no longer become live there.
 */
async function handOver({ move, from, to, by, newId, now }: Running, ready: Ready): Promise<void> {
  const line = auditOf(move.siteId, "site moved here", { from: from.name }, by);
  try {
    await goLive(to, { move, live: ready.live, members: ready.members, audit: { id: newId(), line }, now: now() });
  } catch (error) {
    const given: SiteMove = { ...move, runId: newId(), state: "arriving", peer: from.name };
    const isTaken = await to.db
      .write((tx) => takeSiteMove(tx, given, now()))
      .then(
        () => true,
        () => false,
      );
    if (isTaken) await unlock({ move, from, now });
    const there = isTaken ? null : await readSiteMove(to.db, move.siteId);
    if (there?.runId === move.runId && there.state === "live") return;
    throw error;
  }
}

/** Marks the site as moved here. The database goes on refusing its events, until the site is deleted here. */
async function end({ move, from, to, by, newId, now }: Running): Promise<void> {
  const line = auditOf(move.siteId, "site moved", { to: to.name }, by);
  const auditId = newId();
  await changeState(from.db, {
    move,
    state: "moved",
    now: now(),
    async more(tx) {
      await endHere(tx, move.siteId);
      await writeAudit(tx, auditId, line);
    },
  });
  // There is nothing left that could be sent, and work on all sites must be able to change these tables.
  await unlockTables(from.db, move.siteId, lockedTables);
}

async function finishEarlier(running: Running): Promise<SiteMoved> {
  const { move, from, to, now } = running;
  const members = await readMembers(from.db, to.db, move.siteId);
  await from.db.write((tx) => takeSiteMove(tx, move, now()));
  await end(running);
  return { rows: 0, readOnlyMs: null, members: members.map(toMember) };
}

const toMember = ({ email, role, isLinked }: MovedMember): MovedMember => ({ email, role, isLinked });

/** Ends a move that is not finished: removes the copy there, and lets the site work here again. */
export async function abortSiteMove(plan: SiteMovePlan): Promise<{ removed: number }> {
  const { siteId, from, to, newId, now, by } = plan;
  const here = await readSiteMove(from.db, siteId);
  if (here?.state !== "copying" && here?.state !== "locked") throw new Conflict("site", "This site is not being moved.");
  if (here.peer !== to.name)
    throw new Conflict("to", `The site is being moved to ${here.peer}, and --to names another installation.`);
  const there = await readSiteMove(to.db, siteId);
  const isOurs = there?.moveId === here.moveId;
  if (isOurs && there.state === "live")
    throw new Conflict(
      "site",
      "The site is live there already, so that the move can only be finished: run the command without --abort.",
    );
  const move: SiteMove = { ...here, runId: newId() };
  let removed = 0;
  if (isOurs) {
    // From here on no earlier process can hand the site over.
    await to.db.write((tx) => takeSiteMove(tx, { ...move, state: "arriving" }, now()));
    removed = await removeCopy(to, siteId);
    await to.db.write((tx) => removeSiteMove(tx, siteId));
  }
  await from.db.write((tx) => takeSiteMove(tx, move, now()));
  await unlockTables(from.db, siteId, lockedTables);
  await unlockTables(from.db, siteId, acceptanceTables);
  const line = auditOf(siteId, "site move ended", { to: to.name }, by);
  const auditId = newId();
  await changeState(from.db, { move, state: null, now: now(), more: (tx) => writeAudit(tx, auditId, line) });
  return { removed };
}

async function removeCopy({ db }: Side<Database>, siteId: string): Promise<number> {
  let removed = 0;
  for (const table of historyTables)
    for (let some = pageRows; some === pageRows; removed += some) some = await deleteSomeRows(db, table, siteId, pageRows);
  return removed;
}
