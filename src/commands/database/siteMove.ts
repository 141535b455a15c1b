import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { ConfigFaults, embeddedFile } from "../../installation/config.ts";
import { onDatabase } from "../../installation/installation.ts";
import { tryLock } from "../../installation/lock.ts";
import { ulid } from "../../kernel/ids.ts";
import { Conflict, Missing, Refusal } from "../../kernel/refusal.ts";
import { countOf } from "../../kernel/text.ts";
import { readKeyFile } from "../../maintenance/encryptionKeys.ts";
import {
  abortSiteMove,
  moveSite,
  type Installation,
  type SiteMoved,
  type SiteMovePlan,
} from "../../maintenance/moves/siteMove.ts";
import { findSite, requireSettings } from "../../sites/manage.ts";
import { hasSettings } from "../../sites/directory.ts";
import { sealWith, type Keys } from "../../store/engine/seal.ts";
import { databaseName, findUrlFault } from "../../store/engine/postgres/servers.ts";
import { verifyEncryptionKey, WrongEncryptionKey } from "../../store/maintenance/encryptionKeyCheck.ts";
import { connectDatabase, type StoreLocation } from "../../store/connect.ts";
import { probeSchema } from "../../store/schema/schemaProbe.ts";
import type { CliCommand, CommandContext } from "../context.ts";

type Options = { to: string; keyFile?: string; abort?: true };

export function addSiteMove(site: CliCommand): void {
  site
    .command("move <site>")
    .description("move a site with all its data to another installation")
    .requiredOption("--to <place>", "the other installation: its PostgreSQL database (a URL), or its data folder")
    .option(
      "--key-file <file>",
      "a file with its encryption key; default: encryption.key in its data folder, or for a database the key of this installation",
    )
    .option("--abort", "end a move that is not finished: remove the copy there, and let the site work here")
    .run(async (context, text: string, options: Options) => {
      const found = findSite(context, text);
      if (!hasSettings(found)) requireSettings(found);
      const name = found.hosts[0] ?? found.id;
      await withTarget(context, options, async (to) => {
        const from = createSource(context);
        try {
          const plan = planOf(context, found.id, from, to);
          if (options.abort) {
            const aborted = await abortSiteMove(plan);
            context.print(
              { site: { id: found.id }, state: "aborted", ...aborted },
              `The move of ${name} is ended: it works here as before. ${countOf(aborted.removed, "row")} of its copy were removed there.`,
            );
            return;
          }
          const moved = await moveSite(plan);
          context.print({ site: { id: found.id }, state: "moved", to: to.name, ...moved }, movedText(name, to.name, moved));
        } finally {
          await from.db.close();
        }
      });
    });
}

function createSource({ config }: CommandContext): Installation {
  const { store } = config;
  const name = store.engine === "sqlite" ? resolve(config.dataFolder) : databaseName(store.url);
  return { db: connectDatabase(small(store)), seal: sealWith(config.encryptionKeys), name };
}

/** A command needs few connections. */
const small = (location: StoreLocation): StoreLocation =>
  location.engine === "postgres" ? { ...location, connections: 4 } : location;

function planOf({ config, by }: CommandContext, siteId: string, from: Installation, to: Installation): SiteMovePlan {
  return {
    siteId,
    from,
    to,
    by,
    newId: ulid,
    now: Date.now,
    hasNoNode() {
      if (config.store.engine !== "sqlite") return false;
      const unlock = tryLock(config.dataFolder, "serve.lock");
      unlock?.();
      return unlock !== null;
    },
    drainMs: config.leaseMs + config.answerMs + config.attemptMs + 10_000,
    report: (line) => void process.stderr.write(`${line}\n`),
  };
}

async function withTarget(
  { config }: CommandContext,
  options: Options,
  work: (to: Installation) => Promise<void>,
): Promise<void> {
  const { location, name, keyFile } = readTarget(options);
  const keys = keyFile === null ? config.encryptionKeys : keysOf(keyFile);
  try {
    await onDatabase({ ...config, store: location }, () => onTarget(location, name, keys, work), "--to");
  } catch (error) {
    throw error instanceof ConfigFaults ? new Conflict("to", error.faults.join(" ")) : error;
  }
}

async function onTarget(
  location: StoreLocation,
  name: string,
  keys: Keys,
  work: (to: Installation) => Promise<void>,
): Promise<void> {
  const { found, known } = await probeSchema(location);
  if (found === 0) throw new Missing("to", `There is no installation in ${name}. Start Cleancast there once, and try again.`);
  if (found !== known)
    throw new Conflict(
      "to",
      `${name} has schema ${found}, and this version knows ${known}: use one version of Cleancast for both.`,
    );
  const db = connectDatabase(location);
  try {
    const seal = sealWith(keys);
    await verifyEncryptionKey(db, seal, () => {});
    await work({ db, seal, name });
  } catch (error) {
    if (error instanceof WrongEncryptionKey)
      throw new Conflict("key-file", `The encryption key is not that of ${name}. Name its file with --key-file.`);
    throw error;
  } finally {
    await db.close();
  }
}

function readTarget({ to, keyFile }: Options): {
  location: StoreLocation;
  name: string;
  keyFile: string | null;
} {
  if (/^postgres(?:ql)?:/i.test(to)) {
    const fault = findUrlFault(to, { name: "--to" });
    if (fault !== null) throw new Refusal("to", fault);
    return {
      location: { engine: "postgres", url: to, connections: 4 },
      name: databaseName(to),
      keyFile: keyFile ?? null,
    };
  }
  const folder = resolve(to);
  const file = embeddedFile(folder);
  if (!existsSync(file))
    throw new Missing("to", `${folder} has no embedded database. --to is a data folder or the URL of a PostgreSQL database.`);
  return {
    location: { engine: "sqlite", file },
    name: folder,
    keyFile: keyFile ?? join(folder, "encryption.key"),
  };
}

function keysOf(file: string): Keys {
  if (!existsSync(file))
    throw new Missing("key-file", `There is no file ${file}. Name the encryption key of the other installation with --key-file.`);
  const keys = readKeyFile(file);
  if (!keys) throw new Refusal("key-file", `${file} does not hold a key of 64 hex characters.`);
  return () => keys;
}

function movedText(name: string, to: string, { rows, readOnlyMs, members }: SiteMoved): string {
  const compared =
    readOnlyMs === null
      ? "An earlier run copied and compared everything."
      : `${countOf(rows, "row")} were copied and compared. The site was read-only for ${(readOnlyMs / 1000).toFixed(1)} s.`;
  const others = members.filter(({ isLinked }) => !isLinked);
  const invite = others.map(({ email, role }) => `  cleancast member add ${email} --role ${role} --site ${name}`);
  return [
    `${name} is live in ${to}. ${compared}`,
    `Route its hosts there. Until they lead there, senders get 503 here and retry. Then remove it here:`,
    `  cleancast site remove ${name}`,
    ...(invite.length > 0 ? ["These members have no account there. Invite them there:", ...invite] : []),
  ].join("\n");
}
