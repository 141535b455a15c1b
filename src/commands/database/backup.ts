import { existsSync } from "node:fs";
import type { Command } from "commander";
import { takeBackup } from "../../maintenance/backup.ts";
import { runDrill, type Drill } from "../../maintenance/backups/drill.ts";
import { listBackups } from "../../maintenance/backups/folder.ts";
import { runFolderBackup, type FolderBackup } from "../../maintenance/backups/runBackup.ts";
import { checkLocation } from "../../maintenance/check.ts";
import { restoreBackup } from "../../maintenance/restore.ts";
import { readConfig, type Config } from "../../installation/config.ts";
import { makeDataFolder } from "../../installation/dataFolder.ts";
import { findInstallation, lockStore, noInstallation, onDatabase, readVersion } from "../../installation/installation.ts";
import { tryLock } from "../../installation/lock.ts";
import { Conflict, Missing, Refusal } from "../../kernel/refusal.ts";
import { countOf } from "../../kernel/text.ts";
import { findUrlFault } from "../../store/engine/postgres/servers.ts";
import { backupRecordStore } from "../../store/maintenance/backupRecord.ts";
import type { Inconsistency } from "../../store/maintenance/check/faults.ts";
import { isKeyLost } from "../../store/maintenance/lostKey.ts";
import { createSnapshot, type Snapshot } from "../../store/maintenance/snapshot.ts";
import { vacuumFile, vacuumServer, type VacuumReport } from "../../store/maintenance/vacuum.ts";
import { connectDatabase } from "../../store/connect.ts";
import { printResult, toPrintableLines } from "../context.ts";
import { formatCount, createProgressLine } from "../terminal/progress.ts";

export function backupCommands(program: Command): void {
  program
    .command("backup [file]")
    .description("write all data into one file, also while the relay is running")
    .option("--force", "replace an existing file")
    .action(async (file: string | undefined, options: { force?: true }, command: Command) => {
      const config = readConfig();
      if (file === undefined && config.backups.folder === null)
        throw new Refusal("file", "Name the file, or set CLEANCAST_BACKUP_FOLDER for backups into a folder.");
      // Opening the context would migrate the schema, and this may be the backup before an upgrade.
      const snapshot = await onDatabase(config, () => createSnapshot(config.store));
      if (!snapshot || snapshot.version === 0) throw noInstallation(config);
      try {
        const { taken, inFolder } = await withProgress(command, async (show) => {
          const onProgress = (rows: number, total: number, table: string) =>
            show(rows / total, [`${formatCount(rows)} of ${formatCount(total)} rows`, table], {
              rows,
              total,
            });
          if (file === undefined) {
            const made = await backUpToFolder(config, snapshot, onProgress);
            return { taken: made, inFolder: made };
          }
          const made = await takeBackup(snapshot, file, {
            version: readVersion(),
            now: Date.now(),
            replace: options.force === true,
            secret: config.backups.secret,
            onProgress,
          });
          return { taken: made, inFolder: null };
        });
        // A backup is useful even without the key: it must be possible before giving up a lost key.
        const opens = !(await isKeyLost(snapshot, config.encryptionKeys));
        const isEncrypted = config.backups.secret !== null;
        printResult(
          command,
          { ...taken, encrypted: isEncrypted, key: keyIn(config), opens },
          `${taken.file}: ${countOf(taken.rows, "row")} of ${taken.tables} tables, ${sizeText(taken.bytes)}, schema ${taken.schema}` +
            `${isEncrypted ? ", encrypted" : ""}.\n${inFolder ? folderText(inFolder) : ""}\n` +
            `THE ENCRYPTION KEY IS NOT IN IT. Keep a copy of ${keyIn(config)} in another place than the backup:\n` +
            "without the key, the credentials in the backup cannot be decrypted." +
            (opens ? "" : `\n\n${wrongKey}`),
        );
        if (inFolder?.hook?.ok === false) process.exitCode = 1;
      } finally {
        await snapshot.close();
      }
    });

  program
    .command("restore-drill [file]")
    .description("restore a backup into a temporary database, and check it")
    .option("--database <url>", "use this empty PostgreSQL database, which is empty again afterwards")
    .action(async (file: string | undefined, options: { database?: string }, command: Command) => {
      const config = readConfig();
      const drill = await withProgress(command, (show) =>
        drillBackup(config, file, options.database, (fraction, step) => show(fraction, [step], { step })),
      );
      const { madeAt, rows, tables, seconds, wrong } = drill;
      printResult(
        command,
        { ...drill, ok: wrong.length === 0 },
        `${drill.file}, as of ${madeAt}: ${countOf(rows, "row")} of ${tables} tables restored and checked in ${seconds.toFixed(1)} seconds.\n` +
          inconsistencyText(wrong),
      );
      if (wrong.length) process.exitCode = 1;
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
              secret: config.backups.secret,
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
    .description("verify the database, also while the relay is running")
    .action(async (_options: unknown, command: Command) => {
      const config = readConfig();
      if (!(await findInstallation(config))) throw noInstallation(config);
      const wrong = await onDatabase(config, () => checkLocation(config.store, config.encryptionKeys));
      printResult(command, { ok: wrong.length === 0, wrong }, inconsistencyText(wrong));
      if (wrong.length) process.exitCode = 1;
    });

  program
    .command("vacuum")
    .description("give the space of deleted rows back")
    .option("--full", "rewrite the tables of PostgreSQL too; each is locked meanwhile")
    .action(async (options: { full?: true }, command: Command) => {
      const config = readConfig();
      const report = await onDatabase(config, () => vacuum(config, options.full === true));
      if (!report) throw noInstallation(config);
      printResult(command, report, `The database had ${sizeText(report.before)} and has ${sizeText(report.after)} now.`);
    });
}

/** Makes a backup as the schedule of the relay does. */
async function backUpToFolder(
  config: Config,
  snapshot: Snapshot,
  onProgress: (rows: number, total: number, table: string) => void,
): Promise<FolderBackup> {
  const { folder, retention, secret, hook } = config.backups;
  makeDataFolder(config);
  const unlock = tryLock(config.dataFolder, "backup.lock");
  if (!unlock) throw new Conflict("backup", "Another backup into the folder is running; wait until it ends.");
  const db = connectDatabase(config.store);
  try {
    return await runFolderBackup({
      snapshot,
      folder: folder ?? "",
      place: config.dataFolder,
      retention,
      secret,
      hook,
      version: readVersion(),
      now: Date.now,
      record: backupRecordStore(db),
      onProgress,
    });
  } finally {
    await db.close();
    unlock();
  }
}

function folderText({ deleted, hook }: FolderBackup): string {
  const old = deleted.length ? `${countOf(deleted.length, "old backup")} deleted.\n` : "";
  if (!hook) return old;
  const output = toPrintableLines(hook.output).map((line) => `  ${line}\n`);
  return `${old}${hook.ok ? "The hook has run." : `THE HOOK FAILED: ${hook.reason}.`}\n${output.join("")}`;
}

async function drillBackup(
  config: Config,
  file: string | undefined,
  url: string | undefined,
  onProgress: (fraction: number, step: "verifying" | "writing") => void,
): Promise<Drill> {
  const { folder, secret } = config.backups;
  if (!(await findInstallation(config))) throw noInstallation(config);
  if (file === undefined && folder === null)
    throw new Refusal("file", "Name the file of a backup, or set CLEANCAST_BACKUP_FOLDER.");
  const newest = file ?? (existsSync(folder ?? "") ? listBackups(folder ?? "")[0]?.file : undefined);
  if (newest === undefined) throw new Missing("backup", `There is no backup in ${folder} yet. 'cleancast backup' makes one.`);
  if (url !== undefined) {
    const fault = findUrlFault(url, { name: "--database", otherwise: "leave it out" });
    if (fault) throw new Refusal("database", fault);
    if (config.store.engine === "postgres" && config.store.url === url)
      throw new Refusal("database", "--database is the database of this installation; name an empty one.");
  }
  makeDataFolder(config);
  const unlock = tryLock(config.dataFolder, "drill.lock");
  if (!unlock) throw new Conflict("drill", "Another restore drill is running; wait until it ends.");
  try {
    return await runDrill(newest, {
      dataFolder: config.dataFolder,
      database: url === undefined ? null : { engine: "postgres", url, connections: 2 },
      keys: config.encryptionKeys,
      secret,
      now: Date.now,
      onProgress,
    });
  } finally {
    unlock();
  }
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
  const line = createProgressLine({ json, out: process.stderr, clock: () => performance.now() });
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
    : wrong.map(({ what, count, example, advice }) => `WRONG  ${count} ${what}, such as ${example}\n       ${advice}`).join("\n");

function sizeText(bytes: number): string {
  const units = ["bytes", "KB", "MB", "GB", "TB"];
  const power = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3));
  return `${(bytes / 1000 ** power).toFixed(power === 0 ? 0 : 1)} ${units[power]}`;
}
