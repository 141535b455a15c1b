export type Migration = Change & {
  version: number;
  name: string;
  /** Short ones: they share a transaction, and hold locks until its end that running nodes wait for. */
  statements: readonly string[];
  /** Tables that this migration adds, and how a sharded database places them. */
  configuration: readonly string[];
  bySite: readonly string[];
  /**
   * Indexes of tables that may be full by now. They are built beside nodes that write, outside of any transaction: so a
   * migration that has them has nothing else.
   */
  indexes?: readonly Index[];
};

export type Index = { name: string; on: string };

/**
 * Expand: nodes of every release before go on beside it, and can be started again. Contract: takes away what code of a
 * schema before `unusedSince` needs. That is the schema of a release that is out: a step that takes something away can
 * only stand in a release after the one that stopped using it.
 */
type Change = { kind: "expand" } | { kind: "contract"; unusedSince: number };
