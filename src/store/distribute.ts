// On a sharded PostgreSQL (Citus) every table is placed when it is made: configuration is copied to every node, what grows
// is spread by site, all tables of a site on the same node. On any other PostgreSQL this does nothing.

import type { Migration } from "./migration.ts";

/** What all other tables are placed beside: the first that is spread. */
export const anchor = "events";

/** The statement for the tables that a migration adds; null where it adds none. Configuration first, then the anchor. */
export function distribution({ version, configuration, bySite }: Migration): string | null {
  const copied = version === 1 ? ["migrations", ...configuration] : configuration;
  const spread = [...bySite].toSorted((one, other) => Number(other === anchor) - Number(one === anchor));
  if (copied.length + spread.length === 0) return null;
  const steps = [
    ...copied.map((table) => placed(table, `create_reference_table('${table}')`)),
    ...spread.map((table) => {
      const beside = table === anchor ? "none" : anchor;
      return placed(table, `create_distributed_table('${table}', 'site_id', colocate_with => '${beside}')`);
    }),
  ];
  return onlySharded(steps);
}

/**
 * Says that changes of many shards are made one after the other. Otherwise a migration that has touched spread tables
 * could not write to a copied one (its own line in `migrations`) in the same transaction.
 */
export const oneAfterTheOther = onlySharded([
  `PERFORM set_config('citus.multi_shard_modify_mode', 'sequential', true);`,
]);

const placed = (table: string, call: string) =>
  `IF NOT EXISTS (SELECT 1 FROM pg_dist_partition WHERE logicalrelid = '${table}'::regclass) THEN PERFORM ${call}; END IF;`;

function onlySharded(steps: readonly string[]): string {
  return `DO $$ BEGIN IF EXISTS (SELECT 1 FROM pg_extension WHERE extname = 'citus') THEN
  ${steps.join("\n  ")}
END IF; END $$`;
}
