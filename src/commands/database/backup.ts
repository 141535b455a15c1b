import { existsSync } from "node:fs";
import type { Command } from "commander";
import { takeBackup } from "../../maintenance/backup.ts";
import { checkLocation } from "../../maintenance/check.ts";
import { restoreBackup } from "../../maintenance/restore.ts";
import { readConfig, type Config } from "../../installation/config.ts";
import {
  findInstallation,
  lockStore,
  makeDataFolder,
  noInstallation,
  onDatabase,
  readVersion,
} from "../../installation/installation.ts";
import { Conflict } from "../../kernel/refusal.ts";
import { countOf } from "../../kernel/text.ts";
import type { Inconsistency } from "../../store/maintenance/check/faults.ts";
import { isKeyLost } from "../../store/maintenance/lostKey.ts";
import { openSnapshot } from "../../store/maintenance/snapshot.ts";
import { vacuumFile, vacuumServer, type VacuumReport } from "../../store/maintenance/vacuum.ts";
import { printResult } from "../context.ts";
import { formatCount, openProgressLine } from "../terminal/progress.ts";

export function backupCommands(program: Command): void {
  program
    .command("backup <file>")
    .description("write all data into one file, also while the relay is running")
    .option("--force", "replace an existing file")
    .action(async (file: string, options: { force?: true }, command: Command) => {
      const config = readConfig();
      // Opening the context would migrate the schema, and this may be the backup before an upgrade.
      const snapshot = await onDatabase(config, () => openSnapshot(config.store));
      if (!snapshot || snapshot.version === 0) throw noInstallation(config);
      try {
        const replace = options.force === true;
        const taken = await withProgress(command, (show) =>
          takeBackup(snapshot, file, {
            version: readVersion(),
            now: Date.now(),
            replace,
            onProgress: (rows, total, table) =>
              show(rows / total, [`${formatCount(rows)} of ${formatCount(total)} rows`, table], {
                rows,
                total,
              }),
          }),
        );
        // A backup is useful even without the key: it must be possible before giving up a lost key.
        const opens = !(await isKeyLost(snapshot, config.encryptionKeys));
        printResult(
          command,
          { ...taken, key: keyIn(config), opens },
          `${taken.file}: ${countOf(taken.rows, "row")} of ${taken.tables} tables, ${sizeText(taken.bytes)}, schema ${taken.schema}.\n\n` +
            `THE ENCRYPTION KEY IS NOT IN IT. Keep a copy of ${keyIn(config)} in another place than the backup:\n` +
            "without the key, the credentials in the backup cannot be decrypted." +
            (opens ? "" : `\n\n${wrongKey}`),
        );
      } finally {
        await snapshot.close();
      }
    });

  program
    .command("restore <file>")
    .description("restore a backup; the relay must not be running")
    .option("--force", "replace existing data")
    .action(async (file: string, options: { force?: true }, command: Command) => {
      const config = readConfig();
      if (config.keyFile !== null && !existsSync(config.keyFile))
        throw new Conflict(
          "key",
          `There is no encryption key: put the key of the backup into ${config.keyFile}, or into CLEANCAST_ENCRYPTION_KEY.`,
        );
      makeDataFolder(config);
      const unlock = lockStore(config);
      try {
        const force = options.force === true;
        const restored = await withProgress(command, (show) =>
          onDatabase(config, () =>
            restoreBackup(file, config.store, config.encryptionKeys, {
              force,
              now: Date.now(),
              onProgress: (fraction, step) => show(fraction, [step], { step }),
            }),
          ),
        );
        const { header, rows, tables, aside, wrong } = restored;
        printResult(
          command,
          { ...restored, ok: wrong.length === 0 },
          `Restored ${countOf(rows, "row")} of ${tables} tables, as of ${header.madeAt}.\n` +
            (aside === null ? "" : `The previous database was unusable and is kept as ${aside}.\n`) +
            inconsistencyText(wrong),
        );
        if (wrong.length) process.exitCode = 1;
      } finally {
        unlock();
      }
    });

  program
    .command("check")
    .description("verify database integrity, also while the relay is running")
    .action(async (_options: unknown, command: Command) => {
      const config = readConfig();
      if (!(await findInstallation(config))) throw noInstallation(config);
      const wrong = await onDatabase(config, () => checkLocation(config.store, config.encryptionKeys));
      printResult(command, { ok: wrong.length === 0, wrong }, inconsistencyText(wrong));
      if (wrong.length) process.exitCode = 1;
    });

  program
    .command("vacuum")
    .description(
      "give the space of deleted rows back; with the embedded database the relay must not be running",
    )
    .option("--full", "rewrite the tables of PostgreSQL too; each is locked meanwhile")
    .action(async (options: { full?: true }, command: Command) => {
      const config = readConfig();
      const report = await onDatabase(config, () => vacuum(config, options.full === true));
      if (!report) throw noInstallation(config);
      printResult(
        command,
        report,
        `The database had ${sizeText(report.before)} and has ${sizeText(report.after)} now.`,
      );
    });
}

async function vacuum(config: Config, isFull: boolean): Promise<VacuumReport | null> {
  const { store } = config;
  if (store.engine === "postgres") return vacuumServer(store, { isFull });
  if (!existsSync(store.file)) return null;
  const unlock = lockStore(config);
  try {
    return vacuumFile(store.file);
  } finally {
    unlock();
  }
}

type ShowFraction = (fraction: number, words: readonly string[], json: Record<string, unknown>) => void;

async function withProgress<T>(command: Command, work: (show: ShowFraction) => Promise<T>): Promise<T> {
  const json = command.optsWithGlobals().json === true;
  const line = openProgressLine({ json, out: process.stderr, clock: () => performance.now() });
  try {
    return await work((fraction, words, value) => line.show(() => ({ fraction, words, json: value })));
  } finally {
    line.end();
  }
}

const keyIn = ({ keyFile }: Config) => keyFile ?? "CLEANCAST_ENCRYPTION_KEY";

const wrongKey =
  "THE CONFIGURED KEY DOES NOT DECRYPT IT, or there is no key. Find the right one: without it the backup cannot be restored.";

const inconsistencyText = (wrong: readonly Inconsistency[]) =>
  wrong.length === 0
    ? "No problems found."
    : wrong
        .map(
          ({ what, count, example, advice }) =>
            `WRONG  ${count} ${what}, such as ${example}\n       ${advice}`,
        )
        .join("\n");

function sizeText(bytes: number): string {
  const units = ["bytes", "KB", "MB", "GB", "TB"];
  const power = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3));
  return `${(bytes / 1000 ** power).toFixed(power === 0 ? 0 : 1)} ${units[power]}`;
}
