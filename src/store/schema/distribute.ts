// On a sharded PostgreSQL (Citus) every table is placed when it is made: configuration is copied to every node, what grows
// is spread by site, all tables of a site on the same node. On any other PostgreSQL nothing of this is even said: what only
// speaks its language may not understand it.

import type { Query } from "../engine/database.ts";
import type { Migration } from "./migration.ts";

/** What all other tables are placed beside: the first that is spread. */
export const anchor = "events";

export type Placement = { table: string; call: string };

/** Where the tables go that a migration adds. Configuration first, then the anchor. */
export function placements({ version, configuration, bySite }: Migration): Placement[] {
  const copied = version === 1 ? ["migrations", ...configuration] : configuration;
  const spread = [...bySite].toSorted((one, other) => Number(other === anchor) - Number(one === anchor));
  return [
    ...copied.map((table) => ({ table, call: `create_reference_table('${table}')` })),
    ...spread.map((table) => {
      const beside = table === anchor ? "none" : anchor;
      return {
        table,
        call: `create_distributed_table('${table}', 'site_id', colocate_with => '${beside}')`,
      };
    }),
  ];
}

export async function isCitus(db: Query): Promise<boolean> {
  return (await db.all(`SELECT 1 AS n FROM pg_extension WHERE extname = 'citus'`)).length > 0;
}

/** On Citus alone. A table that was placed already stays where it is. */
export async function distribute(tx: Query, migration: Migration): Promise<void> {
  for (const { table, call } of placements(migration)) {
    const placed = await tx.all(
      `SELECT 1 AS n FROM pg_dist_partition WHERE logicalrelid = CAST('${table}' AS regclass)`,
    );
    if (placed.length === 0) await tx.all(`SELECT ${call}`);
  }
}

/**
 * On Citus alone: changes of many shards are made one after the other. Otherwise a migration that has touched spread tables
 * could not write to a copied one (its own line in `migrations`) in the same transaction.
 */
export const oneAfterTheOther = `SELECT set_config('citus.multi_shard_modify_mode', 'sequential', true)`;
