import { existsSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import type { Command } from "commander";
import { move, type Move } from "../../maintenance/moves/move.ts";
import { createProgress } from "../../maintenance/moves/moveProgress.ts";
import { ConfigFaults, embeddedFile, readConfig, type Config } from "../../installation/config.ts";
import { shortId } from "../../kernel/ids.ts";
import { onDatabase } from "../../installation/installation.ts";
import { tryLock } from "../../installation/lock.ts";
import { Conflict, Missing, Refusal } from "../../kernel/refusal.ts";
import { countOf } from "../../kernel/text.ts";
import { onSource, readSourceSchema } from "../../store/maintenance/installationMove.ts";
import { NewerSchema } from "../../store/schema/compatibility.ts";
import { latestVersion } from "../../store/schema/migrate.ts";
import { databaseName, findUrlFault } from "../../store/engine/postgres/servers.ts";
import { connectDatabase } from "../../store/connect.ts";
import { readDialectFlags, UnknownDialectFlag } from "../../store/engine/postgres/dialect.ts";
import { printResult } from "../context.ts";

type Options = { to?: string; prepare?: true; restart?: true };

export function moveCommands(program: Command): void {
  program
    .command("move")
    .description("move from the embedded database to PostgreSQL")
    .option("--to <url>", "an empty PostgreSQL database; default: DATABASE_URL")
    .option(
      "--prepare",
      "only copy, while the relay keeps using the embedded database; the command without this option finishes the move",
    )
    .option("--restart", "discard the copy in another database, and start again with this one")
    .action(async (options: Options, command: Command) => {
      const config = readConfig();
      const file = embeddedFile(config.dataFolder);
      if (!existsSync(file)) throw new Missing("database", "There is no embedded database to move.");
      const url = options.to ?? (config.store.engine === "postgres" ? config.store.url : null);
      if (url === null) throw new Refusal("to", "Name the database: --to postgres://… , or DATABASE_URL.");
      const unlock = lock(config, options.prepare === true);
      try {
        const moved = await moveFile(config, file, url, options);
        printResult(command, { ...moved, keyFile: config.keyFile }, textOf(moved, config));
      } finally {
        unlock();
      }
    });
}

/** Allows one move at a time. If no relay is running, none can start during the move, unless the move is only prepared. */
function lock({ dataFolder }: Config, prepareOnly: boolean): () => void {
  const unlockMove = tryLock(dataFolder, "move.lock");
  if (!unlockMove) throw new Conflict("database", "Another move of this installation is running.");
  const unlockServe = prepareOnly ? null : tryLock(dataFolder, "serve.lock");
  return () => {
    unlockServe?.();
    unlockMove();
  };
}

async function moveFile(config: Config, file: string, url: string, options: Options): Promise<Move> {
  refuseUrl(url);
  const report = (text: string) => void process.stderr.write(`${text}\n`);
  try {
    const from = onSource("opened", () => new DatabaseSync(file, { timeout: 10_000 }));
    try {
      refuseSchema(await readSourceSchema(from));
      const location = { engine: "postgres", url, connections: 10 } as const;
      const onTarget = async () => {
        const to = connectDatabase(location);
        try {
          return await move({
            from,
            to,
            target: databaseName(url),
            progress: createProgress(`${file}.move`),
            newId: shortId,
            prepareOnly: options.prepare === true,
            restart: options.restart === true,
            now: Date.now,
            report,
          });
        } finally {
          await to.close();
        }
      };
      return await onDatabase({ ...config, store: location }, onTarget, "--to");
    } finally {
      from.close();
    }
  } catch (error) {
    throw toRefusal(error);
  }
}

function refuseUrl(url: string): void {
  const fault = findUrlFault(url, { name: "--to" });
  if (fault !== null) throw new Refusal("to", fault);
  try {
    readDialectFlags(url);
  } catch (error) {
    if (error instanceof UnknownDialectFlag) throw new Refusal("to", `--to: cleancast=${error.message}.`);
    throw error;
  }
}

function refuseSchema(found: number | null): void {
  if (found === null) throw new Conflict("database", "The embedded database is not a database of Cleancast.");
  if (found !== latestVersion)
    throw new Conflict(
      "database",
      `The embedded database has schema ${found}, this version of Cleancast knows ${latestVersion}: ` +
        (found > latestVersion ? "move it with the newer one." : "run 'cleancast migrate' first."),
    );
}

/** Turns errors that a person can correct into one sentence about the option or the file. */
function toRefusal(error: unknown): unknown {
  if (error instanceof ConfigFaults) return new Conflict("to", error.faults.join(" "));
  if (error instanceof NewerSchema) return new Conflict("to", "The database there belongs to a newer version of Cleancast.");
  return error;
}

function textOf({ state, tables, rows, heldMs }: Move, { keyFile }: Config): string {
  if (state === "prepared")
    return (
      `Copied ${countOf(rows, "row")} of ${tables} tables. The relay still uses the embedded database.\n` +
      "Run the same command without --prepare to move what has changed since."
    );
  const key =
    keyFile === null || !existsSync(keyFile)
      ? "The encryption key does not change; other nodes need the same key."
      : `The encryption key stays in ${keyFile}; other nodes need it as CLEANCAST_ENCRYPTION_KEY.`;
  const held =
    heldMs === null
      ? "An earlier run copied and compared everything."
      : `Counts and checksums match. Writes were blocked for ${(heldMs / 1000).toFixed(1)} s.`;
  return (
    `Moved ${countOf(rows, "row")} of ${tables} tables. ${held}\n` +
    `Now set DATABASE_URL to the new database and restart the relay. Until then a running relay answers 503, and senders\n` +
    `retry. ${key}`
  );
}
