// The tests that `npm run test:store -- DATABASE_URL` runs on an operator's database, and those that it must not run.

export const tested = ["src/store", "test/faults/duplicates.test.ts"];

/** Run only on the tests' own servers: they end sessions, make servers read-only, or read all activity of the database. */
export const harmful = [
  "src/store/schema/migrate.test.ts",
  "src/store/engine/postgres/primary.test.ts",
  "src/store/deliveries/queued.test.ts",
];

/** Test only the embedded database. */
export const embedded = [
  "src/store/engine/sqlite/checkpoints.test.ts",
  "src/store/engine/sqlite/moveLock.test.ts",
  "src/store/engine/sqlite/engine.test.ts",
];

/** All schemas of a run, and no others, begin with this prefix. */
export const schemaPrefix = "cleancast_test_";
