// Queries of the doctor. Each reads a bounded number of rows.

import { isCitus } from "../schema/distribute.ts";
import type { Mode } from "../../kernel/event.ts";
import { hasRows, type Database } from "../engine/database.ts";

const newestEvents = 1000;

type SharedOrder = { orderId: string; people: number };

export function doctorQueryStore(db: Database) {
  return {
    async firstEventAt(siteId: string): Promise<number | null> {
      const [row] = await db.all(`SELECT received_at FROM events WHERE site_id = $1 ORDER BY id LIMIT 1`, [siteId]);
      return row ? Number(row.received_at) : null;
    },

    /** Counts live and test events among the newest. */
    async countModes(siteId: string): Promise<Partial<Record<Mode, number>>> {
      const rows = await db.all(
        `SELECT mode, COUNT(*) AS n FROM (
           SELECT mode FROM events WHERE site_id = $1 ORDER BY id DESC LIMIT $2) AS newest
         GROUP BY mode`,
        [siteId, newestEvents],
      );
      return Object.fromEntries(rows.map((row) => [String(row.mode), Number(row.n)]));
    },

    /** Finds the order id that the most people share among the newest events. */
    async findSharedOrder(siteId: string): Promise<SharedOrder | null> {
      const [row] = await db.all(
        `SELECT MIN(order_id) AS order_id, COUNT(DISTINCT email_ref) AS people FROM (
           SELECT order_id, order_key, email_ref FROM events WHERE site_id = $1 ORDER BY id DESC LIMIT $2) AS newest
         WHERE order_key IS NOT NULL GROUP BY order_key ORDER BY people DESC LIMIT 1`,
        [siteId, newestEvents],
      );
      return row ? { orderId: String(row.order_id), people: Number(row.people) } : null;
    },

    /** True when the site has any consent decision. */
    async hasConsent(siteId: string): Promise<boolean> {
      return hasRows(db.all(`SELECT 1 AS one FROM consents WHERE site_id = $1 LIMIT 1`, [siteId]));
    },

    /** The machines of a Citus cluster, and whether the coordinator reaches each; none on any other database. */
    async clusterNodes(): Promise<{ name: string; isReached: boolean }[]> {
      if (db.engine !== "postgres" || !(await isCitus(db))) return [];
      const rows = await db.all(
        `SELECT nodename, nodeport FROM pg_dist_node WHERE noderole = 'primary' ORDER BY nodename, nodeport`,
      );
      const nodes: { name: string; isReached: boolean }[] = [];
      for (const { nodename, nodeport } of rows) {
        const [checked] = await db
          .all(`SELECT CAST(citus_check_connection_to_node(CAST($1 AS text), CAST($2 AS integer)) AS integer) AS reached`, [
            String(nodename),
            Number(nodeport),
          ])
          .catch(() => []);
        nodes.push({ name: `${nodename}:${nodeport}`, isReached: Number(checked?.reached ?? 0) === 1 });
      }
      return nodes;
    },

    /** Reads the settings of PostgreSQL that matter to the relay; empty on SQLite. */
    async serverSettings(): Promise<Record<string, string>> {
      if (db.engine !== "postgres") return {};
      const rows = await db.all(
        `SELECT name, setting FROM pg_settings WHERE name IN ('fsync', 'full_page_writes', 'synchronous_commit',
           'max_connections', 'superuser_reserved_connections', 'server_version_num', 'synchronous_standby_names')`,
      );
      const [open] = await db.all(`SELECT COUNT(*) AS n FROM pg_stat_activity WHERE backend_type = 'client backend'`);
      const settings = Object.fromEntries(rows.map((row) => [String(row.name), String(row.setting)]));
      return { ...settings, open_connections: String(open?.n) };
    },
  };
}
