// The store is the only place with SQL: one family of statements per file, one text for both engines.

import { accountStore } from "./access/accounts.ts";
import { alertStore } from "./statistics/alerts.ts";
import { apiKeyStore } from "./access/apiKeys.ts";
import { backfillStore } from "./deliveries/backfills.ts";
import { backupRecordStore } from "./maintenance/backupRecord.ts";
import { auditStore } from "./sites/audit.ts";
import { sharedLinkStore } from "./sharing/sharedLinks.ts";
import { weeklyReportStore } from "./sharing/weeklyReports.ts";
import { dataExportStore } from "./export/dataExports.ts";
import { exportRowStore } from "./export/exportRows.ts";
import { confirmationStore } from "./confirmations/confirmations.ts";
import { configurationStore } from "./sites/configuration.ts";
import { correctionStore } from "./corrections/corrections.ts";
import { snapshotStore } from "./confirmations/snapshots.ts";
import { deletedSiteStore } from "./sites/deletedSites.ts";
import { deletionStore } from "./maintenance/deletions.ts";
import { deliveryStore } from "./deliveries/deliveries.ts";
import { eraseStore } from "./people/erase.ts";
import { eventStore } from "./events/events.ts";
import { doctorQueryStore } from "./statistics/doctorQueries.ts";
import { dueTimeStore } from "./maintenance/dueTimes.ts";
import { hostStore } from "./sites/hosts.ts";
import { identityStore } from "./access/identities.ts";
import { importStore } from "./sites/imports.ts";
import { invitationStore } from "./access/invitations.ts";
import { inboundCountStore } from "./statistics/inboundCounts.ts";
import { healthStore } from "./statistics/health.ts";
import { keyUseStore } from "./sites/keyUse.ts";
import { memberStore } from "./access/members.ts";
import { leaseStore } from "./engine/leases.ts";
import { schemaVersion } from "./schema/applyMigration.ts";
import { migrate, type MigrationReport } from "./schema/migrate.ts";
import { connectDatabase, shardedTables, type StoreLocation } from "./connect.ts";
import type { Database } from "./engine/database.ts";
import { pushDeviceStore } from "./access/pushDevices.ts";
import { passwordStore } from "./access/passwords.ts";
import { nodeStore } from "./deliveries/nodes.ts";
import { peopleStore } from "./people/people.ts";
import { periodStore } from "./outbound/periods.ts";
import { purgeStore } from "./maintenance/purge.ts";
import { connectionCheckStore } from "./sites/connectionChecks.ts";
import { pushStore } from "./outbound/pushes.ts";
import { candidateStore } from "./reconciliation/candidates.ts";
import { feedStore } from "./reconciliation/feeds.ts";
import { orderStore } from "./reconciliation/orders.ts";
import { runStore } from "./reconciliation/runs.ts";
import { rejectedRequestStore } from "./statistics/rejectedRequests.ts";
import { resealStore } from "./maintenance/reseal.ts";
import { sealWith, type Keys } from "./engine/seal.ts";
import { readAccessSecret, readPushKey, refuseWrongKey, verifyEncryptionKey } from "./maintenance/encryptionKeyCheck.ts";
import { platformSignInStore } from "./sites/platformSignIns.ts";
import { senderRefStore } from "./sources/senderRefs.ts";
import { sourceRequestStore } from "./sources/sourceRequests.ts";
import { statisticsStore } from "./statistics/statistics.ts";
import { sliceStore } from "./deliveries/slices.ts";
import { waitingStore } from "./deliveries/waiting.ts";
import { syncLogStore } from "./deliveries/syncLog/syncLog.ts";
import { oneTimeLinkStore } from "./access/oneTimeLinks.ts";
import { trafficStore } from "./statistics/traffic.ts";
import { rateCounterStore } from "./access/rateCounters.ts";
import { timed, type CommitObserver } from "./engine/timed.ts";
import { inTurns } from "./engine/turns.ts";
import { webhookStore } from "./outbound/webhooks.ts";

export type Store = Awaited<ReturnType<typeof createStore>>;

/** Opens the database and migrates its schema. */
export async function createStore(
  location: StoreLocation,
  encryptionKey: Buffer | Keys,
  newId: () => string,
  observer?: CommitObserver,
) {
  const db = timed(connectDatabase(location, observer?.onDefect), observer);
  try {
    const migrated: MigrationReport = await migrate(db);
    // Throws where the embedded database was moved: a node that only reads would serve old data. A server is not written to, because
    // a machine of a sharded one may be down.
    if (!db.isServer) await db.write(async () => {}, { isRepeatable: true });
    // The groups of commits and look-ups depend on the answer.
    const isSharded = await db.isSharded();
    const keys = typeof encryptionKey === "function" ? encryptionKey : () => [encryptionKey];
    const seal = sealWith(keys);
    const nodes = nodeStore(db);
    const report = observer?.onDefect ?? ((error: Error) => process.emitWarning(error));
    const onRepaired = (name: string) =>
      report(new Error(`the ${name} of the installation could not be read and was written again`));
    await verifyEncryptionKey(db, seal, onRepaired);
    const refuseWrongKeyNow = () => refuseWrongKey(db, seal);
    const openFamilies = (on: Database) => {
      const webhooks = webhookStore(on, seal, newId);
      return {
        configuration: configurationStore(on, seal, newId, refuseWrongKeyNow),
        events: eventStore(on, { seal, refuseWrongKey: refuseWrongKeyNow, nodes }),
        deliveries: deliveryStore(on),
        backfills: backfillStore(on, newId),
        confirmations: confirmationStore(on),
        snapshots: snapshotStore(on),
        corrections: correctionStore(on),
        waiting: waitingStore(on),
        slices: sliceStore(on),
        people: peopleStore(on, newId, isSharded),
        pushDevices: pushDeviceStore(on, seal),
        purge: purgeStore(on),
        dueTimes: dueTimeStore(on),
        erase: eraseStore(on),
        deletions: deletionStore(on),
        deletedSites: deletedSiteStore(on, newId),
        backups: backupRecordStore(on),
        audit: auditStore(on, newId),
        exportRows: exportRowStore(on),
        dataExports: dataExportStore(on, seal, newId),
        sharedLinks: sharedLinkStore(on, newId),
        weeklyReports: weeklyReportStore(on),
        health: healthStore(on),
        doctorQueries: doctorQueryStore(on),
        hosts: hostStore(on, newId),
        keyUse: keyUseStore(on, newId),
        leases: leaseStore(on),
        connectionChecks: connectionCheckStore(on),
        platformSignIns: platformSignInStore(on, seal),
        traffic: trafficStore(on, seal),
        syncLog: syncLogStore(on),
        statistics: statisticsStore(on),
        inboundCounts: inboundCountStore(on),
        rejectedRequests: rejectedRequestStore(on),
        senderRefs: senderRefStore(on),
        sourceRequests: sourceRequestStore(on, seal),
        alerts: alertStore(on),
        periods: periodStore(on),
        webhooks,
        pushes: pushStore(on, webhooks.addressOf, newId),
        accounts: accountStore(on),
        passwords: passwordStore(on, newId),
        members: memberStore(on, newId),
        identities: identityStore(on, newId),
        imports: importStore(on, newId),
        orders: orderStore(on, newId),
        orderFeeds: feedStore(on, seal, newId),
        orderCandidates: candidateStore(on),
        reconciliations: runStore(on, newId),
        invitations: invitationStore(on, newId),
        oneTimeLinks: oneTimeLinkStore(on, newId),
        apiKeys: apiKeyStore(on, newId),
        rateCounters: rateCounterStore(on),
      };
    };
    return {
      engine: db.engine,
      isSharded,
      migrated,
      ...openFamilies(db),
      /** The same for calls of the management API: sites take turns with their reads. */
      forCalls: openFamilies(inTurns(db, shardedTables)),
      nodes,
      /** Signs the cookies of users, and seals the secrets of their authenticator apps. */
      accessSecret: await readAccessSecret(db, keys, onRepaired),
      /** Signs messages to devices. `first` makes the key of a new installation. */
      pushKey: (first: () => string) => readPushKey(db, keys, first, onRepaired),
      seals: resealStore(db, keys),
      schemaVersion: () => schemaVersion(db),
      close: () => db.close(),
    };
  } catch (error) {
    await db.close();
    throw error;
  }
}
