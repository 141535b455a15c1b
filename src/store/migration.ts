export type Migration = {
  version: number;
  name: string;
  statements: readonly string[];
  /** Tables that this migration adds, and how a sharded database places them. */
  configuration: readonly string[];
  bySite: readonly string[];
};
