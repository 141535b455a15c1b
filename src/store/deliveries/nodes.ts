// Nodes and their open events. A node owns the events that it accepted until all their first attempts are settled. Its row
// holds a lease, and the id below which all its events are settled: the low-water mark. When the lease has ended, any node
// takes over what is open at or above that mark.

import type { Database, Row } from "../engine/database.ts";
import { readPlan, type PlanEntry } from "../events/plan.ts";
import { deliveryRow, insertDeliveries, newDelivery } from "./delivery.ts";
import { insertOutcomes, openPositions, packOutcomes, readOutcomesOf } from "./outcomes.ts";

export type NodeRow = { owner: string; lowWater: string };

/** The events of one transaction. */
const step = 64;

export function nodeStore(db: Database, now: () => number = Date.now) {
  /** Leases are compared by one clock: the database's, where it has one. */
  const clock = `COALESCE(${db.serverClock}, CAST($1 AS bigint))`;

  return {
    /** Extends the lease of a node and moves its low-water mark. */
    async renew(owner: string, lowWater: string, leaseMs: number): Promise<void> {
      await db.write((tx) =>
        tx.all(
          `INSERT INTO nodes (site_id, owner, low_water, until) VALUES ('', $2, $3, ${clock} + CAST($4 AS bigint))
           ON CONFLICT (site_id, owner) DO UPDATE SET low_water = excluded.low_water, until = excluded.until`,
          [now(), owner, lowWater, leaseMs],
        ),
      );
    },

    /** A node that stops has settled everything. */
    async remove(owner: string): Promise<void> {
      await db.write((tx) => tx.all(`DELETE FROM nodes WHERE site_id = '' AND owner = $1`, [owner]));
    },

    /** Nodes whose lease has ended. */
    async listExpired(): Promise<NodeRow[]> {
      const rows = await db.all(
        `SELECT owner, low_water FROM nodes WHERE site_id = '' AND until < ${clock}`,
        [now()],
      );
      return rows.map(readNode);
    },

    /** Nodes other than this one, whatever their leases. For the embedded store, which has one node at a time. */
    async listOthers(owner: string): Promise<NodeRow[]> {
      const rows = await db.all(`SELECT owner, low_water FROM nodes WHERE site_id = '' AND owner <> $1`, [
        owner,
      ]);
      return rows.map(readNode);
    },

    /** Deletes rows of nodes whose lease ended `ms` ago. */
    async purge(ms: number): Promise<void> {
      await db.write((tx) =>
        tx.all(`DELETE FROM nodes WHERE site_id = '' AND until < ${clock} - CAST($2 AS bigint)`, [now(), ms]),
      );
    },

    /**
     * Queues what a node has not settled on one site, from its low-water mark on. Returns how many deliveries. Safe while
     * the node is only slow, and with any number of nodes at once.
     */
    async takeOver(siteId: string, { owner, lowWater }: NodeRow, at: number): Promise<number> {
      let queued = 0;
      for (let after = lowWater, isFirst = true; ;) {
        const rows = await db.all(
          `SELECT id, plan, received_at FROM events
           WHERE site_id = $1 AND id ${isFirst ? ">=" : ">"} $2 AND owner = $3 ORDER BY id LIMIT ${step}`,
          [siteId, after, owner],
        );
        queued += await queueOpen(siteId, rows, at);
        const last = rows.at(-1);
        if (rows.length < step || !last) return queued;
        after = String(last.id);
        isFirst = false;
      }
    },
  };

  async function queueOpen(siteId: string, rows: readonly Row[], at: number): Promise<number> {
    if (rows.length === 0) return 0;
    const events = rows.map((row) => ({ id: String(row.id), plan: readPlan(String(row.plan)) }));
    return db.write(async (tx) => {
      const outcomes = await readOutcomesOf(
        tx,
        siteId,
        events.map(({ id }) => id),
      );
      const open = events.flatMap(({ id, plan }) => {
        const known = outcomes.get(id) ?? [];
        const positions = openPositions(plan, known);
        return positions.length ? [{ id, plan, positions, number: known.length }] : [];
      });
      const won = await tx.change(
        insertOutcomes,
        open.map(({ id, positions, number }) => [
          siteId,
          id,
          number,
          packOutcomes(positions.map((position) => ({ position, sent: null }))),
        ]),
      );
      const deliveries = open.filter((_one, i) => won[i]).flatMap((one) => queuedRows(siteId, one, at));
      await tx.change(insertDeliveries, deliveries);
      return deliveries.length;
    });
  }
}

const readNode = (row: Row): NodeRow => ({ owner: String(row.owner), lowWater: String(row.low_water) });

function queuedRows(
  siteId: string,
  { id, plan, positions }: { id: string; plan: readonly PlanEntry[]; positions: readonly number[] },
  at: number,
) {
  const origin = { event: { siteId, id, receivedAt: at }, owner: "", leaseUntil: at };
  return positions.flatMap((position) => {
    const entry = plan[position];
    if (!entry) return [];
    const { connectionId, platform } = entry;
    return [
      deliveryRow.values(newDelivery({ connectionId, platform, state: "queued", reason: null }, origin)),
    ];
  });
}
