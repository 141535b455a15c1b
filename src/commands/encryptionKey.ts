import { existsSync } from "node:fs";
import type { Command } from "commander";
import { beginKeyChange, endKeyChange, resealAll } from "../maintenance/changeEncryptionKey.ts";
import { createKeyFile } from "../maintenance/encryptionKeyFile.ts";
import { readConfig, type Config } from "../installation/config.ts";
import { lockStore, makeDataFolder } from "../installation/installation.ts";
import { Refusal } from "../kernel/refusal.ts";
import { discardSealedValues, isKeyLost } from "../store/maintenance/lostKey.ts";
import { migrate } from "../store/schema/migrate.ts";
import { probeSchema } from "../store/schema/schemaProbe.ts";
import { openDatabase, type StoreLocation } from "../store/open.ts";
import { atDesk, print } from "./context.ts";

export function encryptionKeyCommands(program: Command): void {
  const key = program.command("encryption-key").description("the key that seals credentials at rest");

  key
    .command("rotate")
    .description("seal everything with a new key, beside running relays")
    .option("--alone", "no other node has a copy of this key file (PostgreSQL)")
    .action(async (options: { alone?: true }, command: Command) => {
      const { keyFile, store: location, encryptionKeys } = readConfig();
      await refuseOnNewer(location);
      if (keyFile !== null) {
        // Nodes with a copy of the file would not hear of the new key, and could open nothing any more.
        if (location.engine === "postgres" && !options.alone) throw new Refusal("alone", copies);
        encryptionKeys();
        await beginKeyChange(keyFile);
      }
      await atDesk(async ({ store, config, by }) => {
        if (config.encryptionKeys().length < 2) throw new Refusal("key", twoKeys);
        const resealed = await resealAll(store, config.encryptionKeys);
        const kept = keyFile === null ? null : endKeyChange(keyFile, by.now);
        const detail = { values: resealed };
        await store.audit.add({
          siteId: "",
          actor: by.actor,
          action: "encryption key changed",
          detail,
          at: by.now,
        });
        print(
          command,
          { resealed, oldKey: kept },
          `${resealed} values are sealed with the new key; none is left that needs the old one.\n` +
            (kept === null
              ? "Take CLEANCAST_ENCRYPTION_KEY_OTHER out of the environment of every node."
              : `The new key is in ${keyFile}: keep a copy of it.`) +
            `\nBackups that were taken until now open with the old key alone${kept === null ? "" : `, which is in ${kept}`}: take a new one.`,
        );
      });
    });

  key
    .command("lost")
    .description("go on without the old key: what it sealed is given up")
    .option("--yes", "do it")
    .action(async (options: { yes?: true }, command: Command) => {
      const config = readConfig();
      makeDataFolder(config);
      const unlock = lockStore(config);
      try {
        const gone = await giveUp(config, options.yes === true);
        const lines = Object.entries(gone).flatMap(([table, n]) =>
          whatNow[table] ? [`${n} ${whatNow[table]}`] : [],
        );
        print(command, { gone }, ["The relay starts with the new key. To do:", ...lines].join("\n  "));
      } finally {
        unlock();
      }
    });
}

/** It may keep sealed values in places that this version does not know, which would stay behind. */
async function refuseOnNewer(location: StoreLocation): Promise<void> {
  const { found, known } = await probeSchema(location);
  if (found > known)
    throw new Refusal(
      "database",
      `The database has schema ${found}, this version of Cleancast knows ${known}: change the key with the newer version.`,
    );
}

async function giveUp(config: Config, isSure: boolean) {
  await refuseOnNewer(config.store);
  const { keyFile } = config;
  if (keyFile !== null && !existsSync(keyFile)) {
    if (!isSure) throw new Refusal("yes", warning);
    createKeyFile(keyFile);
  }
  const db = openDatabase(config.store);
  try {
    await migrate(db);
    if (!(await isKeyLost(db, config.encryptionKeys)))
      throw new Refusal("key", "The key that is set opens this database: it is not lost.");
    if (!isSure) throw new Refusal("yes", warning);
    return await discardSealedValues(db, config.encryptionKeys, Date.now());
  } finally {
    await db.close();
  }
}

const twoKeys =
  "Set CLEANCAST_ENCRYPTION_KEY to the new key and CLEANCAST_ENCRYPTION_KEY_OTHER to the present one, on every node; " +
  "with several nodes, first the new one as CLEANCAST_ENCRYPTION_KEY_OTHER everywhere. Then run this again.";

const copies =
  "The key is in a file, and other nodes on this database may have copies of it, which this command cannot change. Set " +
  "CLEANCAST_ENCRYPTION_KEY on every node in place of the files, and see docs/backup.md; if this is the only node: --alone.";

const warning =
  "This gives up what the lost key sealed: every connection must be connected again (deliveries wait until then), OAuth " +
  "apps and webhooks entered again, and people sign in anew, without their second factor. Events, people and numbers " +
  "stay. If a copy of the key may still be found, look for it first. Run it again with --yes to go on.";

const whatNow: Record<string, string> = {
  connections: "connections need reconnection: 'cleancast connection list', then connect each again.",
  oauth_apps: "registrations at platforms are gone: 'cleancast oauth app set'.",
  webhooks: "sealed values of webhooks are gone: 'cleancast webhook remove' and 'webhook add'.",
  sites: "sites lost their alert_webhook: 'cleancast site set'.",
  events: "events lost the extra fields that field mappings had kept.",
  bot_visits: "visits in the sample of bots are gone.",
  settings:
    "values of the installation are new: everybody signs in again, and sets up two-factor sign-in again.",
};
