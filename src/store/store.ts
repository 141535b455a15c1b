// The store: the only place with SQL. One question family per file, one text for both engines.

import { accountStore } from "./accounts.ts";
import { alertStore } from "./alerts.ts";
import { apiKeyStore } from "./apiKeys.ts";
import { auditStore } from "./audit.ts";
import { configurationStore } from "./configuration.ts";
import type { Database } from "./database.ts";
import { deliveryStore } from "./deliveries.ts";
import { eraseStore } from "./erase.ts";
import { eventStore } from "./events.ts";
import { examinationStore } from "./examination.ts";
import { hostStore } from "./hosts.ts";
import { importStore } from "./imports.ts";
import { invitationStore } from "./invitations.ts";
import { inboundCountStore } from "./inboundCounts.ts";
import { healthStore } from "./health.ts";
import { keyUseStore } from "./keyUse.ts";
import { memberStore } from "./members.ts";
import { schemaVersion } from "./applyMigration.ts";
import { migrate, type MigrationReport } from "./migrate.ts";
import { passwordStore } from "./passwords.ts";
import { peopleStore } from "./people.ts";
import { periodStore } from "./periods.ts";
import { openPostgres } from "./postgres.ts";
import { purgeStore } from "./purge.ts";
import { pushStore } from "./pushes.ts";
import { refusedCallStore } from "./refusedCalls.ts";
import { releaseStore } from "./release.ts";
import { resealStore } from "./reseal.ts";
import { sealWith, type Keys } from "./seal.ts";
import { accessSecret, checkSeal } from "./sealCheck.ts";
import { signInStore } from "./signIns.ts";
import { openSqlite } from "./sqlite.ts";
import { statisticsStore } from "./statistics.ts";
import { syncLogStore } from "./syncLog.ts";
import { ticketStore } from "./tickets.ts";
import { trafficStore } from "./traffic.ts";
import { triesStore } from "./tries.ts";
import { watched, type CommitWatch } from "./watched.ts";
import { webhookStore } from "./webhooks.ts";

export type StoreLocation =
  | { engine: "sqlite"; file: string }
  | { engine: "postgres"; url: string; connections: number };

export type Store = Awaited<ReturnType<typeof openStore>>;

/** Opens the database and brings its schema up to date. */
export async function openStore(
  location: StoreLocation,
  encryptionKey: Buffer | Keys,
  newId: () => string,
  watch?: CommitWatch,
) {
  const db = watched(openDatabase(location), watch);
  try {
    const migrated: MigrationReport = await migrate(db);
    // Asked before the first commit, which depends on it.
    await db.isSharded();
    const keys = typeof encryptionKey === "function" ? encryptionKey : () => [encryptionKey];
    const seal = sealWith(keys);
    const webhooks = webhookStore(db, seal, newId);
    await checkSeal(db, seal);
    return {
      engine: db.engine,
      migrated,
      configuration: configurationStore(db, seal, newId),
      events: eventStore(db, seal),
      deliveries: deliveryStore(db),
      people: peopleStore(db, newId),
      /** What signs the cookies of people, and seals the secrets of their apps. */
      accessSecret: await accessSecret(db, keys),
      seals: resealStore(db, keys),
      purge: purgeStore(db),
      erase: eraseStore(db),
      audit: auditStore(db, newId),
      health: healthStore(db),
      examination: examinationStore(db),
      hosts: hostStore(db, newId),
      keyUse: keyUseStore(db, newId),
      release: releaseStore(db),
      signIns: signInStore(db, seal),
      traffic: trafficStore(db, seal),
      syncLog: syncLogStore(db),
      statistics: statisticsStore(db),
      inboundCounts: inboundCountStore(db),
      refusedCalls: refusedCallStore(db),
      alerts: alertStore(db),
      periods: periodStore(db),
      webhooks,
      pushes: pushStore(db, webhooks.addressOf, newId),
      accounts: accountStore(db),
      passwords: passwordStore(db, newId),
      members: memberStore(db, newId),
      imports: importStore(db, newId),
      invitations: invitationStore(db, newId),
      tickets: ticketStore(db, newId),
      apiKeys: apiKeyStore(db, newId),
      tries: triesStore(db),
      schemaVersion: () => schemaVersion(db),
      close: () => db.close(),
    };
  } catch (error) {
    await db.close();
    throw error;
  }
}

export function openDatabase(location: StoreLocation): Database {
  return location.engine === "sqlite" ? openSqlite(location.file) : openPostgres(location.url, location);
}
