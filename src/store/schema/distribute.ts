// On a sharded PostgreSQL (Citus) every table is placed when it is created: configuration is copied to every node, and all
// other tables are sharded by site, with all tables of a site on the same node. On any other PostgreSQL no statement of
// Citus is sent: a database that is only compatible with PostgreSQL may not understand it.

import { hasRows, type Query } from "../engine/database.ts";
import type { Migration } from "./migration.ts";

/** All other sharded tables are colocated with this one, which is created first. */
export const anchor = "events";

type Placement = { table: string; call: string };

/** Returns the placements of the tables that a migration adds: configuration first, then the anchor. */
export function placeTables({ version, configuration, bySite }: Migration): Placement[] {
  const copied = version === 1 ? ["migrations", ...configuration] : configuration;
  const sharded = [...bySite].toSorted((one, other) => Number(other === anchor) - Number(one === anchor));
  return [
    ...copied.map((table) => ({ table, call: `create_reference_table('${table}')` })),
    ...sharded.map((table) => {
      const colocated = table === anchor ? "none" : anchor;
      return {
        table,
        call: `create_distributed_table('${table}', 'site_id', colocate_with => '${colocated}')`,
      };
    }),
  ];
}

export async function isCitus(db: Query): Promise<boolean> {
  return hasRows(db.all(`SELECT 1 AS n FROM pg_extension WHERE extname = 'citus'`));
}

/** Runs only on Citus. A table that was placed already stays where it is. */
export async function distribute(tx: Query, migration: Migration): Promise<void> {
  for (const { table, call } of placeTables(migration)) {
    const placed = await tx.all(`SELECT 1 AS n FROM pg_dist_partition WHERE logicalrelid = CAST('${table}' AS regclass)`);
    if (placed.length === 0) await tx.all(`SELECT ${call}`);
  }
}

/**
 * Makes Citus change many shards one after the other. Otherwise a transaction that has changed sharded tables could not
 * write to a copied one, such as the migration's own row in `migrations`.
 */
export const sequentialShardChanges = `SELECT set_config('citus.multi_shard_modify_mode', 'sequential', true)`;

/** Makes Citus give the limits that a transaction sets from here on, such as that of waiting for a lock, to every machine. */
export const limitsOnEveryMachine = `SELECT set_config('citus.propagate_set_commands', 'local', true)`;
