// The customer's list of orders. An order that is listed again replaces what was known of it, so a nightly list may overlap
// with the one before, and a refund arrives as the same order with another status.

import { hash } from "node:crypto";
import type { Sha256 } from "../../kernel/event.ts";
import { eraseMasks } from "../../kernel/maskAddresses.ts";
import { orderKey, type OrderStatus } from "../../kernel/reconciliation.ts";
import { asNumber, asNumberOrNull, asOneOf, asText, asTextOrNull, describeRow, readNumber } from "../describeRow.ts";
import { allByKeys, chunks, rowStatement, type Database } from "../engine/database.ts";
import { emailRef } from "../events/eventRow.ts";
import type { PurgeStep } from "../maintenance/purge.ts";

export type Order = {
  siteId: string;
  /** Identifies the order on its site: made by `listedId`. */
  id: string;
  /** As the list spells it; null where it has none. */
  orderId: string | null;
  /** When it was placed, in milliseconds. */
  time: number;
  value: number | null;
  currency: string;
  status: OrderStatus;
  emailSha256: Sha256 | null;
  listedAt: number;
};

/** An order without an id of its own is the same order where everything else is equal. */
export function listedId({
  orderId,
  emailSha256,
  time,
  value,
  currency,
}: Pick<Order, "orderId" | "emailSha256" | "time" | "value" | "currency">): string {
  if (orderId !== null) return idOfOrder(orderId);
  return `~${hash("sha256", JSON.stringify([emailSha256, time, value, currency])).slice(0, 32)}`;
}

/** The id of the order that an order id names, in any spelling. */
export const idOfOrder = (orderId: string) => `=${orderKey(orderId)}`;

export const orderRow = describeRow<Order, Order>(
  {
    siteId: asText,
    id: asText,
    orderId: asTextOrNull,
    time: asNumber,
    value: asNumberOrNull,
    currency: asText,
    status: asOneOf<OrderStatus>(),
    emailSha256: asOneOf<Sha256 | null>(),
    listedAt: asNumber,
  },
  {
    email_ref: ({ emailSha256 }) => emailSha256 && emailRef(emailSha256),
  },
);

const [, , ...changing] = orderRow.inserted;

/** An older list must not undo a newer one: two uploads may run at once. */
const writeOrders = rowStatement({
  text: `INSERT INTO orders (${orderRow.inserted.join(",")}) VALUES {ROWS}
    ON CONFLICT (site_id, id) DO UPDATE SET ${changing.map((column) => `${column} = excluded.${column}`).join(", ")}
    WHERE orders.listed_at <= excluded.listed_at`,
  columns: orderRow.inserted.length,
});

/** The ids first, which the index has: for other columns SQLite, which has no statistics, reads all orders of the site instead. */
const isOfPerson = `id IN (SELECT id FROM orders WHERE site_id = $1 AND email_ref = $2) AND email_sha256 = $3`;

/** The position in a list that is sorted by time and id. */
export type OrderCursor = { time: number; id: string };

type OrderSummary = {
  /** At most `maxCounted`; `isAtLeast` where there are more. */
  orders: number;
  isAtLeast: boolean;
  first: number | null;
  last: number | null;
};

export function orderStore(db: Database, newId: () => string) {
  const find = async (siteId: string, ids: readonly string[]): Promise<Map<string, Order>> => {
    const sql = `SELECT ${orderRow.list} FROM orders WHERE site_id = $1 AND id IN ({KEYS})`;
    const rows = await allByKeys(db, sql, [siteId], ids);
    return new Map(rows.map((row) => [String(row.id), orderRow.read(row)]));
  };

  return {
    find,

    /** Writes orders of one site. Of two with the same id the last counts. */
    async write(orders: readonly Order[]): Promise<void> {
      const last = new Map(orders.map((order) => [order.id, order]));
      const rows = [...last.values()].map((order) => orderRow.values(order));
      await db.write((tx) => tx.change(writeOrders, rows));
    },

    /** Lists orders by time: those after `after`, from `from` on and before `to`. */
    async listPage(
      siteId: string,
      { from, to }: { from: number; to: number },
      after: OrderCursor | null,
      limit: number,
    ): Promise<Order[]> {
      const rows = await db.all(
        `SELECT ${orderRow.list} FROM orders
         WHERE site_id = $1 AND (time, id) > ($2, $3) AND time >= $4 AND time < $5 ORDER BY time, id LIMIT $6`,
        [siteId, after?.time ?? from, after?.id ?? "", from, to, limit],
      );
      return rows.map(orderRow.read);
    },

    /** Counts the orders of a site, up to `maxCounted`, with the times of the first and the last. */
    async summarize(siteId: string): Promise<OrderSummary> {
      const [counted] = await db.all(
        `SELECT COUNT(*) AS n FROM (SELECT 1 AS one FROM orders WHERE site_id = $1 LIMIT ${maxCounted + 1}) AS counted`,
        [siteId],
      );
      const end = async (direction: "ASC" | "DESC") => {
        const [row] = await db.all(
          `SELECT time FROM orders WHERE site_id = $1 ORDER BY time ${direction}, id ${direction} LIMIT 1`,
          [siteId],
        );
        return readNumber(row?.time);
      };
      const count = Number(counted?.n ?? 0);
      return {
        orders: Math.min(count, maxCounted),
        isAtLeast: count > maxCounted,
        first: await end("ASC"),
        last: await end("DESC"),
      };
    },

    /** Lists the orders of a person, for an export. */
    async listByPerson(siteId: string, emailSha256: Sha256): Promise<Order[]> {
      const sql = `SELECT ${orderRow.list} FROM orders WHERE site_id = $1 AND ${isOfPerson}`;
      const rows = await db.all(sql, [siteId, emailRef(emailSha256), emailSha256]);
      return rows.map(orderRow.read).toSorted((one, other) => one.time - other.time);
    },

    /**
     * Removes a person from the list. An order whose id says something about them is removed from it, and gets another id in
     * the rows of reconciliations, whose numbers stay. Returns how many orders there were.
     */
    async erasePerson(siteId: string, emailSha256: Sha256): Promise<number> {
      const orders = await db.all(`SELECT id FROM orders WHERE site_id = $1 AND ${isOfPerson}`, [
        siteId,
        emailRef(emailSha256),
        emailSha256,
      ]);
      const ids = orders.map(({ id }) => String(id));
      const telling = ids.filter((id) => id.startsWith("~") || eraseMasks(id) !== id);
      const sql = `UPDATE orders SET email_ref = NULL, email_sha256 = NULL WHERE site_id = $1 AND id IN ({KEYS})`;
      // In small transactions: an address may have very many orders.
      for (const some of chunks(ids)) await db.write((tx) => allByKeys(tx, sql, [siteId], some));
      const runs = telling.length ? await db.all(`SELECT id FROM reconciliations WHERE site_id = $1`, [siteId]) : [];
      for (const id of telling) {
        const newOne = `~erased ${newId()}`;
        await db.write(async (tx) => {
          await tx.all(`DELETE FROM orders WHERE site_id = $1 AND id = $2`, [siteId, id]);
          for (const run of runs)
            await tx.all(
              `UPDATE reconciliation_rows SET id = $4, order_id = NULL WHERE site_id = $1 AND run_id = $2 AND id = $3`,
              [siteId, String(run.id), id, newOne],
            );
        });
      }
      return ids.length;
    },

    /** Removes up to `limit` orders from before `before`. */
    async purge(siteId: string, before: number, limit: number): Promise<PurgeStep> {
      const rows = await db.run(
        `DELETE FROM orders WHERE site_id = $1 AND id IN (
           SELECT id FROM orders WHERE site_id = $1 AND time < $2 ORDER BY time, id LIMIT $3) RETURNING id`,
        [siteId, before, limit],
      );
      return { removed: rows.length, next: rows.length < limit ? null : "" };
    },
  };
}

/** Counting more would take too long for a page. */
const maxCounted = 10_000;
