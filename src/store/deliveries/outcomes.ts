// Outcomes: the settlements of first attempts. A delivery that was sent at once has no row of its own, only an entry here.
//
// A row holds what ended at the same moment. Its number is the number of the event's first attempts that were settled before.
// The node that inserts a number first decides: the owner of the event, or a node that takes the event over, and with it all
// other numbers. The other one discards its settlements.

import { minuteMs } from "../../kernel/time.ts";
import { tryRead } from "../damagedRows.ts";
import { allByKeys, rowStatement, type Database, type Query, type Row, type RowQuery } from "../engine/database.ts";
import { groupsFor, inGroups } from "../engine/groupCommit.ts";
import type { PlanEntry } from "./plan.ts";
import {
  attemptRow,
  deliveryRow,
  insertAttempts,
  insertDeliveries,
  newDelivery,
  type Attempt,
  type Delivery,
  type Settlement,
} from "./delivery.ts";
import { anyNode, ownedByAny } from "./ownership.ts";

/** What the trace shows of an attempt that was sent. `settings` identifies the settings that the request was made with. */
export type SentAttempt = Pick<Attempt, "startedAt" | "durationMs" | "httpStatus" | "batch" | "response"> & {
  settings: string;
};

/** `position` is the delivery's in the plan. Without `sent` it has a delivery row. */
export type Outcome = { position: number; sent: SentAttempt | null };

type Packed =
  | [position: number]
  | [
      position: number,
      startedAt: number,
      durationMs: number,
      httpStatus: number | null,
      batch: number,
      settings: string,
      response: string | null,
    ];

function packOutcomes(outcomes: readonly Outcome[]): Packed[] {
  return outcomes.map(({ position, sent }): Packed => {
    if (!sent) return [position];
    const { startedAt, durationMs, httpStatus, batch, settings, response } = sent;
    return [position, startedAt, durationMs, httpStatus, batch, settings, response];
  });
}

/** A row that the event's owner did not write ends with the word "taken", so that the owner never mistakes it for its own. */
export function readOutcomes(text: string): Outcome[] {
  const packed: (Packed | "taken")[] = JSON.parse(text);
  return packed.flatMap((one): Outcome[] => {
    if (one === "taken") return [];
    const [position, startedAt, durationMs, httpStatus, batch, settings, response] = one;
    if (startedAt === undefined) return [{ position, sent: null }];
    return [
      {
        position,
        sent: {
          startedAt,
          durationMs: durationMs ?? 0,
          httpStatus: httpStatus ?? null,
          batch: batch ?? 1,
          settings: settings ?? "",
          response: response ?? null,
        },
      },
    ];
  });
}

/** Returns null for a row that is damaged. */
export const tryReadOutcomes = (text: string): Outcome[] | null => tryRead(() => readOutcomes(text));

const insertOutcomes = rowStatement({
  text: `INSERT INTO outcomes (site_id, event_id, number, results) VALUES {ROWS} ON CONFLICT DO NOTHING`,
  columns: 4,
  types: ["text", "text", "integer", "text"],
  key: { event_id: 1, number: 2 },
});

/**
 * The settlement of a first attempt. `position` is the delivery's in the plan; `settings` identifies the settings that the request
 * was made with.
 */
export type FirstSettlement = Settlement & { position: number; platform: string; settings: string };

/** First attempts of one event that ended together: one row. */
export type OutcomeRow = {
  siteId: string;
  eventId: string;
  /** How many first attempts of the event were settled before. */
  number: number;
  settlements: readonly FirstSettlement[];
};

/**
 * A settlement waits long for a database that is away, so that an accepted conversion is not sent twice. Meanwhile no node
 * can claim the delivery and no event is accepted, so the queue of settlements does not grow. After a power cut the
 * conversion is sent again, and platforms recognise it by its id.
 */
export const settleOptions = { timeoutMs: minuteMs, isRepeatable: true };

export function outcomeStore(db: Database) {
  const settle = inGroups<OutcomeRow, boolean>((_group, items) => settleFirstAll(db, items), {
    ...groupsFor(db),
    siteOf: ({ siteId }) => siteId,
  });
  return {
    /**
     * Writes a row and resolves when it is committed: with true, or with false when another node has taken the event
     * over, and nothing was written.
     */
    settleFirst: (item: OutcomeRow) => settle(db.commitGroup(item.siteId), item),
  };
}

async function settleFirstAll(db: Database, items: OutcomeRow[]): Promise<boolean[]> {
  const sorted = items.toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));
  // Mostly everything was sent, and is settled with one statement. Else a transaction finds out whose rows are there.
  if (sorted.every(({ settlements }) => settlements.every(isSent))) {
    const write = (tx: RowQuery) => tx.change(insertOutcomes, sorted.map(valuesOf));
    const inserted = await db.write(write, { ...settleOptions, isSingle: true });
    if (!inserted.includes(false)) return items.map(() => true);
  }
  return db.write(async (tx) => {
    const won = new Set<OutcomeRow>();
    for (const [siteId, ofSite] of Map.groupBy(sorted, (item) => item.siteId)) {
      const inserted = await insertFirst(tx, siteId, ofSite);
      inserted.forEach((isFirst, i) => isFirst && won.add(ofSite[i] as OutcomeRow));
      await insertRows(
        tx,
        ofSite.filter((item) => won.has(item)),
      );
    }
    return items.map((item) => won.has(item));
  }, settleOptions);
}

const keyOf = ({ siteId, eventId, number }: OutcomeRow) => `${siteId} ${eventId} ${number}`;

const toOutcome = ({ position, state, attempt, settings }: FirstSettlement): Outcome => ({
  position,
  sent: state === "sent" && attempt ? { ...attempt, settings } : null,
});

const isSent = ({ state }: FirstSettlement) => state === "sent";

const valuesOf = ({ siteId, eventId, number, settlements }: OutcomeRow) => [
  siteId,
  eventId,
  number,
  JSON.stringify(packOutcomes(settlements.map(toOutcome))),
];

async function insertFirst(tx: RowQuery, siteId: string, items: readonly OutcomeRow[]): Promise<boolean[]> {
  const rows = items.map(valuesOf);
  const inserted = await tx.change(insertOutcomes, rows);
  // A transaction that runs again, because its commit was not confirmed, finds its own rows.
  for (const [i, [, eventId, number, results]] of rows.entries()) {
    if (inserted[i]) continue;
    const sql = `SELECT results FROM outcomes WHERE site_id = $1 AND event_id = $2 AND number = $3`;
    const [row] = await tx.all(sql, [siteId, eventId as string, number as number]);
    inserted[i] = row?.results === results;
  }
  return inserted;
}

/** Inserts the delivery and attempt rows of what was not sent. */
async function insertRows(tx: RowQuery, items: readonly OutcomeRow[]): Promise<void> {
  const unsent = items.flatMap(({ settlements }) => settlements.filter((one) => !isSent(one)));
  if (unsent.length === 0) return;
  await tx.change(
    insertDeliveries,
    unsent.map((one) => deliveryRow.values(deliveryOf(one))),
  );
  await tx.change(
    insertAttempts,
    unsent.flatMap((one) => (one.attempt ? [attemptRow.values({ ...one, ...one.attempt })] : [])),
  );
}

const deliveryOf = ({ attempt: _attempt, at, ...settlement }: FirstSettlement): Delivery => ({
  ...settlement,
  owner: anyNode,
  updatedAt: at,
});

/**
 * The outcomes of events, by event. `damaged` are the events with a row that cannot be read; `rows` has the numbers of the
 * rows.
 */
export async function readOutcomesOf(
  db: Query,
  siteId: string,
  ids: readonly string[],
): Promise<{
  outcomes: Map<string, Outcome[]>;
  damaged: Set<string>;
  rows: Map<string, Set<number>>;
}> {
  const found = new Map<string, Outcome[]>();
  const numbered = new Map<string, Set<number>>();
  const damaged = new Set<string>();
  const sql = `SELECT event_id, number, results FROM outcomes WHERE site_id = $1 AND event_id IN ({KEYS})`;
  for (const row of await allByKeys(db, sql, [siteId], ids)) {
    const eventId = String(row.event_id);
    const outcomes = tryReadOutcomes(String(row.results));
    numbered.set(eventId, (numbered.get(eventId) ?? new Set()).add(Number(row.number)));
    const known = found.get(eventId);
    if (!outcomes) damaged.add(eventId);
    else if (known) known.push(...outcomes);
    else found.set(eventId, outcomes);
  }
  return { outcomes: found, damaged, rows: numbered };
}

type WithPlan = { id: string; plan: readonly PlanEntry[] };

/**
 * Settles what the owners of events have not settled: each open delivery gets a row in this state. The owner, if it is only
 * slow, then finds the number taken. Returns how many deliveries.
 */
export async function settleOpen(
  tx: RowQuery,
  siteId: string,
  events: readonly WithPlan[],
  { state, reason, at }: Pick<Settlement, "state" | "reason" | "at">,
): Promise<number> {
  let settled = 0;
  // Another node may insert a number first. Its row is then visible in the next pass.
  for (;;) {
    const { open } = await findOpen(tx, siteId, events);
    if (open.length === 0) return settled;
    const gaps = open.flatMap((one) => one.gaps.map((gap) => [siteId, one.id, gap, '["taken"]']));
    if ((await tx.change(insertOutcomes, gaps)).includes(false)) continue;
    const isFirst = await tx.change(
      insertOutcomes,
      open.map(({ id, positions, number }) => {
        const results = [...positions.map((position) => [position]), "taken"];
        return [siteId, id, number, JSON.stringify(results)];
      }),
    );
    const rows = open.flatMap(({ id, plan, positions }, i) => {
      const entries = isFirst[i] ? positions.flatMap((position) => plan[position] ?? []) : [];
      return entries.map(({ connectionId, platform }) =>
        deliveryRow.values(newDelivery({ siteId, id }, { connectionId, platform, state, reason }, ownedByAny(at))),
      );
    });
    await tx.change(insertDeliveries, rows);
    settled += rows.length;
  }
}

/**
 * The events that have open first attempts, with their positions and the number of the next row of outcomes. Which attempts
 * of a `damaged` event are open is not known, so none of them is repeated.
 */
export async function findOpen(db: Query, siteId: string, events: readonly WithPlan[]) {
  const { outcomes, damaged, rows } = await readOutcomesOf(
    db,
    siteId,
    events.map(({ id }) => id),
  );
  const open = events.flatMap(({ id, plan }) => {
    const known = outcomes.get(id) ?? [];
    const positions = damaged.has(id) ? [] : openPositions(plan, known);
    return positions.length ? [{ id, plan, positions, ...nextNumber(plan, rows.get(id)) }] : [];
  });
  return { open, damaged };
}

/**
 * The number of the next row. `gaps` are the other numbers under which the owner could write, and have to be taken before: it
 * goes on behind its last row, which a server that was promoted without the last commits may lack.
 */
function nextNumber(plan: readonly PlanEntry[], used: ReadonlySet<number> = new Set()): { number: number; gaps: number[] } {
  const ofOwner = plan.filter(({ by }) => by === "node").keys();
  const [first, ...gaps] = ofOwner.filter((number) => !used.has(number));
  let number = first ?? plan.length;
  while (used.has(number)) number += 1;
  return { number, gaps };
}

/** The positions of the plan that the owner was to attempt and that no outcome covers. */
function openPositions(plan: readonly PlanEntry[], outcomes: readonly Outcome[]): number[] {
  return plan.flatMap(({ by }, position) =>
    by === "node" && !outcomes.some((one) => one.position === position) ? [position] : [],
  );
}

/** One statement for many rows: each event has one of them. */
const replaceResults = rowStatement({
  text: `WITH v AS MATERIALIZED (VALUES {ROWS})
   UPDATE outcomes SET results = v.column3 FROM v
   WHERE outcomes.site_id = $1 AND outcomes.event_id IN ({FIRSTS}) AND outcomes.event_id = v.column1
     AND outcomes.number = v.column2`,
  forOne: `UPDATE outcomes SET results = $4 WHERE site_id = $1 AND event_id = $2 AND number = $3`,
  columns: 3,
  first: 1,
  types: ["text", "integer", "text"],
});

/** Removes the platforms' answers from rows, which have the columns of the key and `results`. */
export async function removeAnswers(tx: RowQuery, siteId: string, rows: readonly Row[]): Promise<void> {
  const changed = rows.flatMap((row) => {
    const outcomes = tryReadOutcomes(String(row.results));
    if (outcomes?.every(({ sent }) => (sent?.response ?? null) === null)) return [];
    const without = outcomes?.map(({ position, sent }) => ({
      position,
      sent: sent && { ...sent, response: null },
    }));
    // A damaged row may still show a part of an answer. It stays one that cannot be read.
    const results = without ? JSON.stringify(packOutcomes(without)) : "(removed)";
    return [[String(row.event_id), Number(row.number), results]];
  });
  await tx.change(replaceResults, changed, [siteId]);
}
