// Nodes and their open events. A node owns the events that it accepted until all their first attempts are settled. Its row
// holds a lease, and the id below which all its events are settled: the low-water mark. When the lease has ended, any node
// takes over what is open at or above that mark.

import { minuteMs } from "../../kernel/time.ts";
import { damageFindings, tryRead } from "../damagedRows.ts";
import { clockOr, type Database, type Row, type RowQuery } from "../engine/database.ts";
import { beginAlert } from "../statistics/alerts.ts";
import { readPlan } from "./plan.ts";
import { findOpen, settleOpen } from "./outcomes.ts";

type NodeRow = { owner: string; lowWater: string };

/** A node that was found dead, with the end of its last lease: one that comes back has another. */
export type DeadNode = NodeRow & { until?: number };

/** A node whose lease has ended `endedMs` ago. */
export type ExpiredNode = { node: Required<DeadNode>; endedMs: number };

/** Another server has taken the place of the primary: it may lack outcomes of events below the mark. */
export class MarkOutdated extends Error {}

/** Ends a transaction whose placeholder found its place free: no other one has inserted the event. */
class NotAccepted extends Error {}

/** An uncommitted event with this id makes it wait. It is never committed itself. */
const insertPlaceholder = `INSERT INTO events
  (site_id, id, key_id, mode, status, name, currency, time, received_at, person, attribution, plan, owner, uses_order_event_id)
  VALUES ($1, $2, '', '', '', '', '', 0, 0, '', '', '', '', 0)
  ON CONFLICT (site_id, id) DO NOTHING RETURNING id`;

/** The longest lease that a node may be configured with. */
export const maxLeaseMs = 10 * minuteMs;

/** The events of one transaction. */
const step = 64;

/**
 * A row that was written this recently may be among the commits that a failover loses, and a pooler may hide the failover
 * until the next lease.
 */
const recentMs = minuteMs;

export function nodeStore(db: Database, now: () => number = Date.now) {
  /** Leases are compared by one clock: the database's, where it has one. */
  const clock = clockOr(db, 1);

  /** Changes what is known of a node's events. It was determined when there had been `promotions`, and counts only until the next. */
  const writeUnlessPromoted = (promotions: number, work: (tx: RowQuery) => Promise<Row[]>) =>
    db.write(
      (tx) => {
        // Asked here, because the transaction may be run again on another server.
        if (db.promotions() !== promotions) throw new MarkOutdated("another server was promoted");
        return work(tx);
      },
      { confirmTimeline: true, siteId: "" },
    );

  /**
   * The rows that this process wrote: the first mark of each node, the count of promotions when it was last written, and until
   * when it may be missing without a promotion that is known.
   */
  const written = new Map<string, { mark: string; leaseMs: number; promotions: number; recentUntil: number }>();

  /** Writes the row of a node; one that is there stays as it is unless `onConflict` changes it. */
  const writeRow = (tx: RowQuery, { owner, lowWater }: NodeRow, leaseMs: number, onConflict: string) =>
    tx.all(
      `INSERT INTO nodes (site_id, owner, low_water, until) VALUES ('', $2, $3, ${clock} + CAST($4 AS bigint))
       ON CONFLICT (site_id, owner) DO ${onConflict}`,
      [now(), owner, lowWater, leaseMs],
    );

  async function cameBack({ owner, until }: DeadNode): Promise<boolean> {
    if (until === undefined) return false;
    const [row] = await db.all(`SELECT until FROM nodes WHERE site_id = '' AND owner = $1`, [owner]);
    return row !== undefined && Number(row.until) !== until;
  }

  /** Where tables are sharded the row is on a machine of its own: events of other machines do not wait for that one. */
  const untilOld = async () => (db.isServer && !(await db.isSharded()) ? now() + recentMs : 0);

  return {
    promotions: () => db.promotions(),

    /**
     * True when the server may lack the row of a node here. Without it, nobody would find what the node leaves when it dies: so a
     * transaction that accepts events asks, after the first statement, which decides on which server it runs.
     */
    mayLackRows(): boolean {
      const promotions = db.promotions();
      for (const row of written.values()) if (row.promotions !== promotions || row.recentUntil > now()) return true;
      return false;
    },

    /** Writes the rows of the nodes here that are missing. */
    async restoreRows(tx: RowQuery): Promise<void> {
      for (const [owner, { mark, leaseMs }] of written) await writeRow(tx, { owner, lowWater: mark }, leaseMs, "NOTHING");
    },

    /** Extends the lease of a node and moves its low-water mark. */
    async renew(owner: string, lowWater: string, leaseMs: number, promotions = db.promotions()): Promise<void> {
      const change = "UPDATE SET low_water = excluded.low_water, until = excluded.until";
      await writeUnlessPromoted(promotions, (tx) => writeRow(tx, { owner, lowWater }, leaseMs, change));
      const { mark = lowWater, recentUntil = await untilOld() } = written.get(owner) ?? {};
      written.set(owner, { mark, leaseMs, promotions, recentUntil });
    },

    /** The low-water mark of a node as it is stored; null without a row. */
    async readMark(owner: string): Promise<string | null> {
      const [row] = await db.all(`SELECT low_water FROM nodes WHERE site_id = '' AND owner = $1`, [owner]);
      return row ? String(row.low_water) : null;
    },

    /** A node that stops has settled everything, or another one has taken it over. */
    async remove(owner: string, promotions = db.promotions()): Promise<void> {
      await writeUnlessPromoted(promotions, (tx) => tx.all(`DELETE FROM nodes WHERE site_id = '' AND owner = $1`, [owner]));
      written.delete(owner);
    },

    /** Removes a node whose lease has ended. One that came back has another lease, and has left other events if that has ended, too. */
    async removeExpired({ owner, until }: Required<DeadNode>, promotions = db.promotions()): Promise<void> {
      await writeUnlessPromoted(promotions, (tx) =>
        tx.all(`DELETE FROM nodes WHERE site_id = '' AND owner = $1 AND until = $2`, [owner, until]),
      );
    },

    /** The owners of leases that last. */
    async listLiving(): Promise<string[]> {
      const rows = await db.all(`SELECT owner FROM nodes WHERE site_id = '' AND ${clock} < until`, [now()]);
      return rows.map((row) => String(row.owner));
    },

    /**
     * Nodes whose lease has ended, and how long ago; and those whose lease lasts longer than any is given for, because the
     * database's clock was set back: their `endedMs` is negative.
     */
    async listExpired(): Promise<ExpiredNode[]> {
      const rows = await db.all(
        `SELECT owner, low_water, until, ${clock} - until AS ended_ms FROM nodes
         WHERE site_id = '' AND (until < ${clock} OR until > ${clock} + ${maxLeaseMs})`,
        [now()],
      );
      return rows.map((row) => ({
        node: { ...readNode(row), until: Number(row.until) },
        endedMs: Number(row.ended_ms),
      }));
    },

    /** Nodes other than this one, whatever their leases. For the embedded store, which has one node at a time. */
    async listOthers(owner: string): Promise<NodeRow[]> {
      const rows = await db.all(`SELECT owner, low_water FROM nodes WHERE site_id = '' AND owner <> $1`, [owner]);
      return rows.map(readNode);
    },

    /**
     * Counts the events of one site that living nodes have in hand, and takes over those of dead ones. `isAlone`: no node
     * lives, whatever their leases.
     */
    async settleSite(siteId: string, at: number, isAlone: boolean): Promise<number> {
      const rows = await db.all(
        `SELECT owner, low_water, until, CASE WHEN until < ${clock} THEN 1 ELSE 0 END AS ended FROM nodes WHERE site_id = ''`,
        [now()],
      );
      let inHand = 0;
      for (const row of rows) {
        const node = readNode(row);
        if (isAlone) await this.takeOver(siteId, node, at);
        else if (Number(row.ended) === 1) await this.takeOver(siteId, { ...node, until: Number(row.until) }, at);
        else inHand += await countOpen(db, siteId, node);
      }
      return inHand;
    },

    /**
     * Queues what is open of one event, if it was accepted. Waits for a transaction that may still accept it, and fails where that takes
     * too long: a commit can wait for a standby long after its connection has broken.
     */
    async queueEvent(siteId: string, eventId: string, at: number): Promise<number> {
      try {
        return await db.write(async (tx) => {
          if ((await tx.all(insertPlaceholder, [siteId, eventId])).length > 0) throw new NotAccepted();
          const rows = await tx.all(`SELECT id, plan FROM events WHERE site_id = $1 AND id = $2`, [siteId, eventId]);
          return settleOpen(tx, siteId, rows.flatMap(readEvent), { ...queued, at });
        });
      } catch (error) {
        if (error instanceof NotAccepted) return 0;
        throw error;
      }
    },

    /**
     * Queues what a node has not settled on one site, from its low-water mark on. Returns how many deliveries. Safe while
     * the node is only slow, and with any number of nodes at once. A living node leaves out those that it has in hand. Ends when
     * the node came back: what it accepts from then on is its own.
     */
    async takeOver(
      siteId: string,
      node: DeadNode,
      at: number,
      isInHand: (eventId: string) => boolean = () => false,
    ): Promise<number> {
      let count = 0;
      for await (const rows of ownedEvents(db, siteId, node)) {
        // Before the outcomes are read: they are complete for an event that is no longer in hand.
        const left = rows.filter((row) => !isInHand(String(row.id)));
        const readable = left.flatMap(readEvent);
        // Most events above the mark are settled: nothing is written for them.
        const { open, damaged } = await findOpen(db, siteId, readable);
        if (damaged.size > 0 || readable.length < left.length)
          await db.write((tx) => beginAlert(tx, siteId, damageFindings.events, at));
        if (open.length === 0) continue;
        // This process may have been suspended since it found the node dead. Asked after the events were read, because the node writes
        // its lease before it accepts others.
        if (await cameBack(node)) return count;
        count += await db.write((tx) => settleOpen(tx, siteId, open, { ...queued, at }));
      }
      return count;
    },
  };
}

async function countOpen(db: Database, siteId: string, node: NodeRow): Promise<number> {
  let count = 0;
  for await (const rows of ownedEvents(db, siteId, node))
    count += (await findOpen(db, siteId, rows.flatMap(readEvent))).open.length;
  return count;
}

/** Yields the events of a node on one site from its low-water mark on, some at a time. */
async function* ownedEvents(db: Database, siteId: string, { owner, lowWater }: NodeRow) {
  for (let after = lowWater, isFirst = true; ; isFirst = false) {
    const rows = await db.all(
      `SELECT id, plan FROM events
       WHERE site_id = $1 AND id ${isFirst ? ">=" : ">"} $2 AND owner = $3 ORDER BY id LIMIT ${step}`,
      [siteId, after, owner],
    );
    yield rows;
    const last = rows.at(-1);
    if (rows.length < step || !last) return;
    after = String(last.id);
  }
}

const readNode = (row: Row): NodeRow => ({ owner: String(row.owner), lowWater: String(row.low_water) });

/** An event that can no longer be read must not keep the others from being taken over. */
const readEvent = (row: Row) => tryRead(() => ({ id: String(row.id), plan: readPlan(String(row.plan)) })) ?? [];

const queued = { state: "queued", reason: null } as const;
