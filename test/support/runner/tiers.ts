// Divides the tests into two tiers; every test is in exactly one. `npm test` runs the first, `quick`: every promise once, on the
// embedded database. `npm run test:all` runs the second, `rest`, after it: what takes long, and the same promises on PostgreSQL.
// Without a tier, as in `npx vitest run FILE`, everything runs.

import { globSync, readFileSync } from "node:fs";

const tiers = ["quick", "rest"] as const;
export type Tier = (typeof tiers)[number];

const allFiles = ["src/**/*.test.ts", "test/**/*.test.ts", "standins/**/*.test.ts"];

/** Run with the rest as a whole. What takes longest comes first, because files are started in this order. */
export const slow = [
  "test/dashboard/",
  "test/simulation/",
  "test/faults/",
  "test/guides.test.ts",
  "test/deliveryModel/corrections.test.ts",
  "test/reconciliation/",
  "test/browser/",
  "test/operations/reconcile.test.ts",
  "test/operations/start.test.ts",
  "test/demo.test.ts",
  "test/support/postgres/",
  "test/support/runner/",
  "test/disk/",
  "test/platforms/standins.test.ts",
  "test/platforms/signIn.test.ts",
  "test/clients/",
  "test/edge/",
  "test/export/",
  "test/sharing/",
  "test/vendors/",
  "test/engines/",
  "test/releases.test.ts",
  "test/packaging.test.ts",
  "test/examples.test.ts",
  "test/operations/scheduledBackups.test.ts",
  "test/operations/headless.test.ts",
  "test/operations/doctor.test.ts",
  "test/operations/backup.test.ts",
  "test/operations/observability.test.ts",
  "test/operations/traces.test.ts",
  "test/operations/configurationFile.test.ts",
  "test/operations/retention.test.ts",
  "test/operations/queryPlans.test.ts",
  "test/api/singleSignOn.test.ts",
  "test/outbound/receivers.test.ts",
  "test/sources/senders.test.ts",
  "test/sources/late.test.ts",
  "test/sources/oddTexts.test.ts",
  "test/sources/lookUps.test.ts",
  "test/operations/vacuum.test.ts",
  "test/api/mcp.test.ts",
  "src/tables/readTable.test.ts",
  "test/properties/sources.test.ts",
  "test/plugins/n8n.test.ts",
  "src/store/engine/sqlite/checkpoints.test.ts",
  "src/maintenance/moves/move.test.ts",
  "test/deliveryModel/store.test.ts",
  "test/platforms/confirmations.test.ts",
  "src/export/due.test.ts",
  "src/maintenance/dueTimes.test.ts",
  "src/maintenance/restore.test.ts",
  "src/store/schema/migrate.test.ts",
  "src/store/engine/postgres/",
  "src/reconcile/worker.test.ts",
  "test/operations/encryptionKey.test.ts",
  "test/plugins/make.test.ts",
  "test/properties/mapping.test.ts",
];

/** Exceptions to the list above: one story in a browser and one in the dashboard, and what takes a moment. */
export const quick = [
  "test/browser/story.test.ts",
  "test/dashboard/formats.test.ts",
  "test/dashboard/fuzzy.test.ts",
  "test/dashboard/inboundSamples.test.ts",
  "test/dashboard/layers.test.ts",
  "test/dashboard/messages.test.ts",
  "test/dashboard/ranges.test.ts",
  "test/dashboard/serverTexts.test.ts",
  "test/dashboard/settingNames.test.ts",
  "test/dashboard/uploadFile.test.ts",
  "test/dashboard/visibleRows.test.ts",
  "test/faults/consent.test.ts",
  "test/faults/keys.test.ts",
  "test/simulation/firstSeeds.test.ts",
  "test/simulation/texts.test.ts",
];

/** Their tests on PostgreSQL are quick too: the store, the delivery model, and what differs with several nodes. */
export const quickOnPostgres = ["src/", "standins/", "test/deliveryModel/"];

const isIn = (list: readonly string[], file: string) => list.some((one) => file.startsWith(one));
const isSlow = (file: string) => isIn(slow, file) && !isIn(quick, file);

/** A file of the quick tier may hold both: its groups and tests whose titles name postgres belong to the rest. */
export function tierOf(file: string, title: string): Tier {
  if (isSlow(file)) return "rest";
  return !isIn(quickOnPostgres, file) && /postgres/i.test(title) ? "rest" : "quick";
}

export function readTier(text: string | undefined): Tier | null {
  const tier = tiers.find((one) => one === text);
  if (text && !tier) throw new Error(`TEST_TIER is ${text}; it can be ${tiers.join(" or ")}`);
  return tier ?? null;
}

/** Returns the files that have tests of the tier, or may have some; all of them, as patterns, without a tier. */
export function filesOf(tier: Tier | null, root: string): string[] {
  if (tier === null) return allFiles;
  const files = globSync(allFiles, { cwd: root });
  if (tier === "quick") return files.filter((file) => !isSlow(file));
  const mayHaveSome = (file: string) => /\bengines\b|postgres/i.test(readFileSync(`${root}/${file}`, "utf8"));
  return files.filter((file) => isSlow(file) || (!isIn(quickOnPostgres, file) && mayHaveSome(file)));
}
