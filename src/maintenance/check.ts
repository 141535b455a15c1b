// Checks the data of an installation, also while a relay works on it.

import { listDamagedSecrets } from "../access/twoFactorSecrets.ts";
import { Conflict, Missing } from "../kernel/refusal.ts";
import { platforms } from "../platforms/index.ts";
import { withDefaults } from "../sites/settings.ts";
import { listTwoFactors } from "../store/access/members.ts";
import { sealWith, tryUnseal, type Keys, type Seal } from "../store/engine/seal.ts";
import { checkSnapshot } from "../store/maintenance/check/check.ts";
import type { Inconsistency } from "../store/maintenance/check/faults.ts";
import { sealedNames } from "../store/maintenance/sealedColumns.ts";
import { createSnapshot, type Snapshot } from "../store/maintenance/snapshot.ts";
import type { StoreLocation } from "../store/connect.ts";
import { latestVersion } from "../store/schema/migrate.ts";
import { readSetting } from "../store/settings.ts";

/** Finds inconsistencies in a database. */
export async function checkLocation(location: StoreLocation, keys: Keys): Promise<Inconsistency[]> {
  const snapshot = await createSnapshot(location);
  if (!snapshot) throw new Missing("database", "There is no database to check yet.");
  try {
    // A missing key must not look like values that cannot be decrypted.
    keys();
    if (snapshot.version !== latestVersion)
      throw new Conflict(
        "database",
        `The database has schema ${snapshot.version}, this version of Cleancast knows ${latestVersion}: ` +
          (snapshot.version > latestVersion ? "check it with the newer one." : "run 'cleancast migrate' first."),
      );
    const seal = sealWith(keys);
    return [...(await checkRows(snapshot, seal, Date.now())), ...(await checkTwoFactors(snapshot, seal))];
  } finally {
    await snapshot.close();
  }
}

/** Finds inconsistencies among the rows of one moment, `now`. */
export const checkRows = (snapshot: Snapshot, seal: Seal, now: number): Promise<Inconsistency[]> =>
  checkSnapshot(snapshot, seal, {
    platforms: platforms.map(({ id }) => id),
    windowsOf: withDefaults,
    now,
  });

/** If the access secret itself cannot be read, that was reported, and nothing is known of the values under it. */
async function checkTwoFactors(snapshot: Snapshot, seal: Seal): Promise<Inconsistency[]> {
  const sealed = await readSetting(snapshot, sealedNames.access);
  const secret = sealed && tryUnseal(seal, sealed, sealedNames.access);
  if (!secret) return [];
  const damaged = await listDamagedSecrets(await listTwoFactors(snapshot), secret);
  const [example] = damaged;
  if (example === undefined) return [];
  const what = "secrets of two-factor sign-in that cannot be decrypted";
  const advice = "Reset these members with 'cleancast member reset EMAIL', or restore a backup.";
  return [{ what, count: damaged.length, example, advice }];
}
