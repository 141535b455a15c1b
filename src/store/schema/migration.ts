export type Migration = Change & {
  version: number;
  name: string;
  /** Statements must be short: they share a transaction, and hold locks that running nodes wait for until it ends. */
  statements: readonly string[];
  /** The tables that this migration adds, and how a sharded database places them. */
  configuration: readonly string[];
  bySite: readonly string[];
  /**
   * Indexes of tables that may be full. They are built concurrently with writes, outside of any transaction: so a migration
   * that has indexes has nothing else.
   */
  indexes?: readonly Index[];
};

export type Index = { name: string; on: string };

/**
 * Expand: nodes of every release before keep working, and can be started again. Contract: removes what code of a schema
 * before `unusedSince` needs. `unusedSince` is the schema of a release that is out: a migration that removes something can
 * only be part of a release after the one that stopped using it.
 */
type Change = { kind: "expand" } | { kind: "contract"; unusedSince: number };

/** Completes a migration: all tables that it creates are sharded by site, but for those of the configuration. */
export function shardOthers<Part extends Omit<Migration, "bySite">>(part: Part): Part & { bySite: string[] } {
  const created = part.statements.flatMap((text) => /^CREATE TABLE (\w+)/.exec(text)?.[1] ?? []);
  return { ...part, bySite: created.filter((table) => !part.configuration.includes(table)) };
}
