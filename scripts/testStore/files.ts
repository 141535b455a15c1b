// What `npm run test:store -- DATABASE_URL` runs on somebody's database, and what it must not.

export const asked = ["src/store", "test/faults/duplicates.test.ts"];

/** Ends sessions, makes servers read-only, or asks what else happens in the database: only ever on servers of the tests' own. */
export const harmful = [
  "src/store/schema/migrate.test.ts",
  "src/store/engine/postgres/primary.test.ts",
  "src/store/deliveries/queued.test.ts",
];

/** The embedded database is not what is asked about. */
export const embedded = [
  "src/store/engine/sqlite/checkpoints.test.ts",
  "src/store/maintenance/copy.test.ts",
  "src/store/engine/sqlite/moveLock.test.ts",
  "src/store/engine/sqlite/engine.test.ts",
];

/** Schemas of a run begin with this, and whatever begins with it is one. */
export const schemaPrefix = "cleancast_test_";
