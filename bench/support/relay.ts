// Installs and starts the relay under test: a separate process with the default settings, started as an operator starts it. Its
// log goes to a file.

import { spawn, type StdioOptions } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { standinConnections } from "../../scripts/standinConnections.ts";
import { ulid } from "../../src/kernel/ids.ts";
import type { StoreLocation } from "../../src/store/connect.ts";
import { createStore, type Store } from "../../src/store/store.ts";
import { commandIn } from "../../test/support/commands.ts";
import { startPostgres, withClient, type Postgres } from "../../test/support/postgres/postgres.ts";
import type { AllocationOrder } from "./allocations.ts";
import { end, keep, parentOf, sleep } from "./processes.ts";
import type { SiteKey, SourceTarget } from "./sender.ts";
import type { StubPlatform, StubState } from "./stub.ts";

const program = fileURLToPath(new URL("../../bin/cleancast.mjs", import.meta.url));
const allocationsFile = fileURLToPath(new URL("./allocations.ts", import.meta.url));

export type Engine = "sqlite" | "postgres";

/** The first n of these are connected. None has a quota that a benchmark would reach, and the last takes no batches. */
export const platforms: readonly StubPlatform[] = ["meta", "tiktok", "segment", "snapchat", "x", "ga4"];

export type Installation = {
  env: Record<string, string>;
  store: StoreLocation;
  siteId: string;
  key: string;
  /** In the order of creation. */
  connectionIds: string[];
  /** All sites; the first is `siteId`. */
  sites: (SiteKey & { id: string })[];
};

let postgres: Promise<Postgres> | undefined;
const folders: string[] = [];
process.on("exit", () => folders.forEach((folder) => rmSync(folder, { recursive: true, force: true })));

/** The server is durable like the embedded store: fsync and synchronous commit are on. */
export function benchPostgres(settings: Record<string, string> = {}): Promise<Postgres> {
  return (postgres ??= startPostgres({ durable: true, settings }));
}

async function freshDatabase(): Promise<string> {
  return (await benchPostgres()).createDatabase();
}

/** Returns the id of PostgreSQL's main process. */
export async function postmaster(server?: Postgres): Promise<number> {
  return withClient((server ?? (await postgres))?.url ?? "", async (client) => {
    const { rows } = await client.query("select pg_backend_pid() as pid");
    return parentOf(Number(rows[0].pid));
  });
}

export async function stopPostgres(): Promise<void> {
  await (await postgres)?.stop();
  postgres = undefined;
}

export function freshFolder({ stays = false } = {}): string {
  const folder = mkdtempSync(join(tmpdir(), "cleancast-bench-"));
  if (!stays) folders.push(folder);
  return folder;
}

/** Creates sites with keys and connections to the stub. */
export async function install(
  engine: Engine,
  connected: readonly StubPlatform[],
  stub: StubState | null,
  siteCount = 1,
): Promise<Installation> {
  const folder = freshFolder();
  const origins = stub && Object.entries(stub.ports).map(([id, port]) => [id, `http://127.0.0.1:${port}`]);
  const env: Record<string, string> = {
    PATH: process.env.PATH ?? "",
    CLEANCAST_DATA: folder,
    HOST: "127.0.0.1",
    PORT: "0",
    CLEANCAST_ENCRYPTION_KEY: "5a".repeat(32),
    CLEANCAST_PLATFORM_ORIGINS: JSON.stringify(Object.fromEntries(origins ?? [])),
  };
  let store: StoreLocation = { engine: "sqlite", file: join(folder, "cleancast.db") };
  if (engine === "postgres") {
    env.DATABASE_URL = await freshDatabase();
    store = { engine, url: env.DATABASE_URL, connections: 10 };
  }
  const cleancast = (...args: string[]) => command(env, ...args);
  const connectionIds: string[] = [];
  const sites: Installation["sites"] = [];
  for (let n = 1; n <= siteCount; n++) {
    const host = n === 1 ? "shop.example.com" : `shop-${n}.example.com`;
    const site = await cleancast("site", "add", host);
    const { key } = await cleancast("key", "add", host, "bench");
    sites.push({ id: site.id, host, key });
    for (const id of connected) {
      const settings = Object.entries(standinConnections[id]).map(([name, value]) => `${name}=${value}`);
      connectionIds.push((await cleancast("connection", "add", host, id, ...settings)).connection.id);
    }
  }
  const [{ id: siteId, key }] = sites as [Installation["sites"][0]];
  return { env, store, siteId, key, connectionIds, sites };
}

/** Adds a source of the kind `stripe`, before the relay starts or while it runs. */
export async function addStripeSource({ env, sites }: Pick<Installation, "env" | "sites">): Promise<SourceTarget> {
  const secret = "whsec_bench";
  const { address } = await command(env, "source", "add", sites[0]?.host ?? "", "stripe", `signing_secret=${secret}`);
  return { address, secret };
}

// oxlint-disable-next-line typescript/no-explicit-any -- the shape differs with the command
async function command(env: Record<string, string>, ...args: string[]): Promise<any> {
  const { out, err } = await commandIn({ args: ["--json", ...args], env });
  if (out === "") throw new Error(`cleancast ${args.join(" ")} failed: ${err}`);
  return JSON.parse(out);
}

export function connectStoreOf({ store, env }: Installation): Promise<Store> {
  return createStore(store, Buffer.from(env.CLEANCAST_ENCRYPTION_KEY ?? "", "hex"), ulid);
}

/** Returns the name of an installation's database on the server. */
export const databaseOf = ({ env }: Pick<Installation, "env">) => new URL(env.DATABASE_URL ?? "").pathname.slice(1);

export type Relay = {
  pid: number;
  port: number;
  stop: () => Promise<void>;
  kill: () => Promise<void>;
  /** Counts allocations; only for a relay that was started with `countsAllocations`. */
  ask: (order: AllocationOrder) => Promise<number>;
};

export async function startRelay(
  { env }: Pick<Installation, "env">,
  { nodeArgs = [], countsAllocations = false }: { nodeArgs?: string[]; countsAllocations?: boolean } = {},
): Promise<Relay> {
  const logFile = join(env.CLEANCAST_DATA ?? tmpdir(), "log");
  const log = openSync(logFile, "w");
  const args = [...nodeArgs, ...(countsAllocations ? ["--import", allocationsFile] : []), program, "serve"];
  const stdio: StdioOptions = ["ignore", log, log, ...(countsAllocations ? (["ipc"] as const) : [])];
  const child = keep(spawn(process.execPath, args, { env, stdio }));
  closeSync(log);
  const ask = async (order: AllocationOrder) => {
    const answer = once(child, "message");
    child.send(order);
    return Number((await answer)[0]);
  };
  for (;;) {
    const text = readFileSync(logFile, "utf8");
    const port = /is running on https?:\/\/[^:\s]+:(\d+)/.exec(text)?.[1];
    if (port)
      return { pid: child.pid as number, port: Number(port), stop: () => end(child, "SIGTERM"), kill: () => end(child), ask };
    if (child.exitCode !== null) throw new Error(`the relay ended:\n${text}`);
    await sleep(2);
  }
}
