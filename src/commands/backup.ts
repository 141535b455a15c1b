import { existsSync } from "node:fs";
import type { Command } from "commander";
import { takeBackup } from "../maintenance/backup.ts";
import { checkLocation, restoreBackup } from "../maintenance/restore.ts";
import { readConfig, type Config } from "../installation/config.ts";
import { lockStore, makeDataFolder, onDatabase } from "../installation/installation.ts";
import { version } from "../main.ts";
import { Refusal } from "../kernel/refusal.ts";
import type { Inconsistency } from "../store/maintenance/check.ts";
import { isKeyLost } from "../store/maintenance/lostKey.ts";
import { openSnapshot } from "../store/maintenance/snapshot.ts";
import { print } from "./context.ts";

export function backupCommands(program: Command): void {
  program
    .command("backup <file>")
    .description("write everything into one file, beside a running relay")
    .option("--force", "replace the file if it is there")
    .action(async (file: string, options: { force?: true }, command: Command) => {
      const config = readConfig();
      // Not through the desk: that would bring the schema up to date, and this may be the backup before an upgrade.
      const snapshot = await onDatabase(config, () => openSnapshot(config.store));
      if (!snapshot || snapshot.version === 0)
        throw new Refusal("database", "There is no database yet: nothing to back up.");
      try {
        const replace = options.force === true;
        const taken = await takeBackup(snapshot, file, { version: version(), now: Date.now(), replace });
        // A backup is worth having in any case: also before one goes on without the key.
        const opens = !(await isKeyLost(snapshot, config.encryptionKeys));
        print(
          command,
          { ...taken, key: keyIn(config), opens },
          `${taken.file}: ${taken.rows} rows of ${taken.tables} tables, ${sizeText(taken.bytes)}, schema ${taken.schema}.\n\n` +
            `THE ENCRYPTION KEY IS NOT IN IT. Keep a copy of ${keyIn(config)} in another place than the backup:\n` +
            "without the key, the credentials in the backup cannot be opened by anybody." +
            (opens ? "" : `\n\n${shut}`),
        );
      } finally {
        await snapshot.close();
      }
    });

  program
    .command("restore <file>")
    .description("write a backup back; the relay must not run")
    .option("--force", "replace the data that is there")
    .action(async (file: string, options: { force?: true }, command: Command) => {
      const config = readConfig();
      makeDataFolder(config);
      if (config.keyFile !== null && !existsSync(config.keyFile))
        throw new Refusal(
          "key",
          `There is no encryption key: put the one that belongs to the backup into ${config.keyFile}, or into CLEANCAST_ENCRYPTION_KEY.`,
        );
      const unlock = lockStore(config);
      try {
        const force = options.force === true;
        const restored = await onDatabase(config, () =>
          restoreBackup(file, config.store, config.encryptionKeys, { force, now: Date.now() }),
        );
        const { header, rows, tables, aside, wrong } = restored;
        print(
          command,
          { ...restored, ok: wrong.length === 0 },
          `Restored ${rows} rows of ${tables} tables, as they were on ${header.madeAt}.\n` +
            (aside === null ? "" : `What was there could not be used; it is kept as ${aside}.\n`) +
            textOf(wrong),
        );
        if (wrong.length) process.exitCode = 1;
      } finally {
        unlock();
      }
    });

  program
    .command("check")
    .description("verify database integrity while a relay runs")
    .action(async (_options: unknown, command: Command) => {
      const config = readConfig();
      const wrong = await onDatabase(config, () => checkLocation(config.store, config.encryptionKeys));
      print(command, { ok: wrong.length === 0, wrong }, textOf(wrong));
      if (wrong.length) process.exitCode = 1;
    });
}

const keyIn = ({ keyFile }: Config) => keyFile ?? "CLEANCAST_ENCRYPTION_KEY";

const shut =
  "THE KEY THAT IS SET HERE DOES NOT OPEN IT, or there is none. Look for the one that does: without it the backup can be " +
  "restored nowhere.";

const textOf = (wrong: readonly Inconsistency[]) =>
  wrong.length === 0
    ? "No problems found."
    : wrong.map(({ what, count, example }) => `WRONG  ${count} ${what}, such as ${example}`).join("\n");

function sizeText(bytes: number): string {
  const units = ["bytes", "KB", "MB", "GB", "TB"];
  const power = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3));
  return `${(bytes / 1000 ** power).toFixed(power === 0 ? 0 : 1)} ${units[power]}`;
}
