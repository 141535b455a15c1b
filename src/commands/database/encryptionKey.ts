import { existsSync } from "node:fs";
import type { Command } from "commander";
import { beginKeyChange, endKeyChange, resealAll } from "../../maintenance/changeEncryptionKey.ts";
import { createKeyFile } from "../../maintenance/encryptionKeys.ts";
import { readConfig, type Config } from "../../installation/config.ts";
import { findInstallation, lockStore, noInstallation } from "../../installation/installation.ts";
import { Conflict } from "../../kernel/refusal.ts";
import { countOf } from "../../kernel/text.ts";
import { discardSealedValues, isKeyLost } from "../../store/maintenance/lostKey.ts";
import { connectDatabase, type StoreLocation } from "../../store/connect.ts";
import { migrate } from "../../store/schema/migrate.ts";
import { probeSchema } from "../../store/schema/schemaProbe.ts";
import { printResult, withContext } from "../context.ts";

export function encryptionKeyCommands(program: Command): void {
  const key = program.command("encryption-key").description("the key that encrypts credentials at rest");

  key
    .command("rotate")
    .description("encrypt everything with a new key, also while relays are running")
    .option("--alone", "no other node has a copy of this key file (PostgreSQL)")
    .action(async (options: { alone?: true }, command: Command) => {
      const { keyFile, store: location, encryptionKeys } = await readExisting();
      await refuseNewerSchema(location);
      if (keyFile !== null) {
        // Nodes with a copy of the file would not get the new key, and could no longer decrypt anything.
        if (location.engine === "postgres" && !options.alone) throw new Conflict("alone", copies);
        encryptionKeys();
        await beginKeyChange(keyFile);
      }
      await withContext(command, async ({ store, config, by }) => {
        if (config.encryptionKeys().length < 2) throw new Conflict("key", twoKeys);
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
        printResult(
          command,
          { resealed, oldKey: kept },
          `${countOf(resealed, "value is", "values are")} now encrypted with the new key; none needs the old key any more.\n` +
            (kept === null
              ? "Remove CLEANCAST_ENCRYPTION_KEY_OTHER from the environment of every node."
              : `The new key is in ${keyFile}: keep a copy of it.`) +
            `\nExisting backups need the old key${kept === null ? "" : `, which is in ${kept}`}: take a new backup.`,
        );
      });
    });

  key
    .command("lost")
    .description("continue without a lost key: the values that it encrypted are deleted")
    .option("--yes", "do it")
    .action(async (options: { yes?: true }, command: Command) => {
      const config = await readExisting();
      const unlock = lockStore(config);
      try {
        const gone = await giveUpKey(config, options.yes === true);
        const lines = Object.entries(gone).flatMap(([table, n]) => (nextSteps[table] ? [`${n} ${nextSteps[table]}`] : []));
        printResult(command, { gone }, ["The relay will start with the new key. What to do now:", ...lines].join("\n  "));
      } finally {
        unlock();
      }
    });
}

/** Reading the keys of a folder without a database would create one. */
async function readExisting(): Promise<Config> {
  const config = readConfig();
  if (!(await findInstallation(config))) throw noInstallation(config);
  return config;
}

/** A newer schema may hold encrypted values that this version does not know, and would not encrypt again. */
async function refuseNewerSchema(location: StoreLocation): Promise<void> {
  const { found, known } = await probeSchema(location);
  if (found > known)
    throw new Conflict(
      "database",
      `The database has schema ${found}, this version of Cleancast knows ${known}: change the key with the newer version.`,
    );
}

async function giveUpKey(config: Config, isConfirmed: boolean) {
  await refuseNewerSchema(config.store);
  const { keyFile } = config;
  if (keyFile !== null && !existsSync(keyFile)) {
    if (!isConfirmed) throw new Conflict("yes", warning);
    createKeyFile(keyFile);
  }
  const db = connectDatabase(config.store);
  try {
    await migrate(db);
    if (!(await isKeyLost(db, config.encryptionKeys)))
      throw new Conflict("key", "The configured key decrypts this database: it is not lost.");
    if (!isConfirmed) throw new Conflict("yes", warning);
    return await discardSealedValues(db, config.encryptionKeys, Date.now());
  } finally {
    await db.close();
  }
}

const twoKeys =
  "Set CLEANCAST_ENCRYPTION_KEY to the new key and CLEANCAST_ENCRYPTION_KEY_OTHER to the current one, on every node; " +
  "with several nodes, first set the new key as CLEANCAST_ENCRYPTION_KEY_OTHER everywhere. Then run this again.";

const copies =
  "The key is in a file, and other nodes on this database may have copies of it, which this command cannot change. Set " +
  "CLEANCAST_ENCRYPTION_KEY on every node in place of the files, and see docs/how-to/backup.md; if this is the only node: --alone.";

const warning =
  "This deletes everything that the lost key encrypted: every connection must be connected again (deliveries wait until " +
  "then), OAuth apps and webhooks must be entered again, and people must sign in again, without their second factor. " +
  "Events, people and statistics stay. Look for a copy of the key first. Run this again with --yes to continue.";

const nextSteps: Record<string, string> = {
  connections: "connections need reconnection: 'cleancast connection list', then connect each again.",
  oauth_apps: "OAuth apps were deleted: set each again: cleancast oauth app set PLATFORM client_id=… client_secret=@file",
  webhooks: "secret values of webhooks were deleted: 'cleancast webhook remove ID', then 'cleancast webhook add SITE URL'.",
  sites: "sites lost their alert_webhook: set it again: cleancast site set SITE alert_webhook=https://…",
  events: "events lost their items and the extra fields of their field mappings.",
  bot_visits: "sampled bot visits were deleted.",
  settings: "values of the installation were replaced: people must sign in and set up two-factor sign-in again.",
};
