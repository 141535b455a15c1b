import { existsSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import type { Command } from "commander";
import { move, type Move } from "../care/move.ts";
import { openProgress } from "../care/moveProgress.ts";
import { ConfigFaults, embeddedFile, readConfig, type Config } from "../config.ts";
import { shortId } from "../ids.ts";
import { onDatabase } from "../installation.ts";
import { tryLock } from "../lock.ts";
import { Refusal } from "../sites/manage.ts";
import { schemaIn } from "../store/copy.ts";
import { latestVersion } from "../store/migrate.ts";
import { openDatabase } from "../store/store.ts";
import { print } from "./desk.ts";

export function moveCommands(program: Command): void {
  program
    .command("move")
    .description("move everything from the embedded database to PostgreSQL, beside a running relay")
    .option("--to <url>", "an empty PostgreSQL database; DATABASE_URL, where it is set already")
    .option("--prepare", "copy, but let the relay go on: the same command without it moves what is left")
    .action(async (options: { to?: string; prepare?: true }, command: Command) => {
      const config = readConfig();
      const file = embeddedFile(config.dataFolder);
      if (!existsSync(file)) throw new Refusal("database", "There is no embedded database: nothing to move.");
      const url = options.to ?? (config.store.engine === "postgres" ? config.store.url : null);
      if (url === null) throw new Refusal("to", "Name the database: --to postgres://… , or DATABASE_URL.");
      const unlock = lock(config);
      try {
        const moved = await moveFile(config, file, url, options.prepare === true);
        print(command, { ...moved, keyFile: config.keyFile }, textOf(moved, config));
      } finally {
        unlock();
      }
    });
}

/** One move at a time; and where no relay runs, none starts meanwhile. */
function lock({ dataFolder }: Config): () => void {
  const done = tryLock(dataFolder, "move.lock");
  if (!done) throw new Refusal("database", "Another move of this installation is under way.");
  const noRelay = tryLock(dataFolder, "serve.lock");
  return () => {
    noRelay?.();
    done();
  };
}

async function moveFile(config: Config, file: string, url: string, prepareOnly: boolean): Promise<Move> {
  if (!/^postgres(?:ql)?:\/\//.test(url)) throw new Refusal("to", "--to must start with postgres:// .");
  const from = new DatabaseSync(file, { timeout: 10_000 });
  const say = (text: string) => void process.stderr.write(`${text}\n`);
  try {
    const found = schemaIn(from);
    if (found !== latestVersion)
      throw new Refusal(
        "database",
        `The embedded database has schema ${found}, this version of Cleancast knows ${latestVersion}: ` +
          (found > latestVersion ? "move it with the newer one." : "run 'cleancast migrate' first."),
      );
    const location = { engine: "postgres", url, connections: 10 } as const;
    return await onDatabase({ ...config, store: location }, async () => {
      const to = openDatabase(location);
      try {
        const progress = openProgress(`${file}.move`, shortId);
        return await move({ from, to, progress, prepareOnly, now: Date.now, say });
      } finally {
        await to.close();
      }
    }).catch((error: unknown) => {
      throw error instanceof ConfigFaults ? new Refusal("to", toldOf(error)) : error;
    });
  } finally {
    from.close();
  }
}

/** It is the option and not the variable that names the database here. */
const toldOf = (error: ConfigFaults) =>
  error.message.replace(/^[^]*DATABASE_URL names a database that/, "--to names a database that");

function textOf({ state, tables, rows, heldMs }: Move, { keyFile }: Config): string {
  if (state === "prepared")
    return (
      `Copied ${rows} rows of ${tables} tables. The relay goes on with the embedded database.\n` +
      "Run the same command without --prepare to move what has changed since."
    );
  const key =
    keyFile === null
      ? "CLEANCAST_ENCRYPTION_KEY stays as it is."
      : `The encryption key stays in ${keyFile}; further nodes need it as CLEANCAST_ENCRYPTION_KEY.`;
  return (
    `Moved ${rows} rows of ${tables} tables; counts and checksums are equal. Nothing could be changed for ${(heldMs / 1000).toFixed(1)} s.\n` +
    `Now set DATABASE_URL to the new database and start the relay again. Until then a relay that still runs answers 503, and\n` +
    `senders try again. ${key}`
  );
}
