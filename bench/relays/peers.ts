// What people run in place of the relay, and the relay: how each starts, and which database belongs to it.

import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { freePort } from "../../test/support/servers/freePort.ts";
import { startPostgres } from "../../test/support/postgres/postgres.ts";
import { end, keep, sleep } from "../support/processes.ts";
import { benchPostgres, freshFolder, install, postmaster, startRelay, stopPostgres, type Engine } from "../support/relay.ts";

const here = fileURLToPath(new URL("./", import.meta.url));

/** What holds the data of a peer, so that a crash of it can be tried, too. */
type Store = { pid: number; kill: () => Promise<void>; start: () => Promise<void>; stop: () => Promise<void> };

export type Running = {
  port: number;
  key: string;
  pid: () => number;
  kill: () => Promise<void>;
  /** Starts it again, with its data, on the same port. */
  start: () => Promise<void>;
  stop: () => Promise<void>;
  store: Store | null;
};

export type Peer = {
  name: string;
  version: string;
  /** When it answers the sender. */
  answers: string;
  /** Where an event is while it waits. */
  keeps: string;
  start: (platformPorts: readonly number[]) => Promise<Running>;
};

export function installPeers(): void {
  if (existsSync(`${here}node_modules/bullmq`)) return;
  execFileSync("npm", ["ci", "--no-audit", "--ignore-scripts", "--prefix", here], { stdio: "inherit" });
}

const versionOf = (name: string): string => JSON.parse(readFileSync(`${here}node_modules/${name}/package.json`, "utf8")).version;

/** Null where Debian's package redis-server is not installed. */
export function redisVersion(): string | null {
  try {
    return /v=(\S+)/.exec(execFileSync("redis-server", ["--version"], { encoding: "utf8" }))?.[1] ?? null;
  } catch {
    return null;
  }
}

/** A program of this folder, which prints "ready" when it listens. */
async function runProgram(
  args: readonly string[],
  env: Record<string, string>,
  port: number,
  readiness: RegExp,
  store: Store | null,
): Promise<Running> {
  let child: ChildProcess;
  const start = async () => {
    const started = keep(
      spawn(process.execPath, [...args], {
        cwd: here,
        env: { PATH: process.env.PATH ?? "", NODE_ENV: "production", PORT: String(port), ...env },
        stdio: ["ignore", "pipe", "inherit"],
      }),
    );
    child = started;
    const lines = createInterface({ input: started.stdout });
    const ready = new Promise<void>((resolve) => lines.on("line", (line) => readiness.test(line) && resolve()));
    await Promise.race([
      ready,
      once(started, "exit").then(([code]) => Promise.reject(new Error(`${args.join(" ")} ended with ${code}`))),
    ]);
  };
  await start();
  return {
    port,
    key: "none",
    pid: () => child.pid as number,
    kill: () => end(child),
    start,
    store,
    stop: async () => {
      await end(child);
      await store?.stop();
    },
  };
}

const targetsOf = (ports: readonly number[]) => JSON.stringify(ports.map((port) => `http://127.0.0.1:${port}`));

/** `appendfsync` is `everysec`, Redis's own choice for its log, or `always`. */
async function startRedis(appendfsync: string): Promise<Store & { port: number }> {
  const folder = freshFolder();
  const port = await freePort();
  let child: ChildProcess;
  const start = async () => {
    const args = ["--port", String(port), "--dir", folder, "--appendonly", "yes", "--appendfsync", appendfsync, "--save", ""];
    const started = keep(spawn("redis-server", [...args, "--bind", "127.0.0.1"], { stdio: "ignore" }));
    child = started;
    await untilListening(port);
  };
  await start();
  return {
    port,
    get pid() {
      return child.pid as number;
    },
    kill: () => end(child),
    start,
    stop: () => end(child),
  };
}

async function untilListening(port: number): Promise<void> {
  for (;;) {
    const socket = connect(port, "127.0.0.1");
    const isOpen = await new Promise<boolean>((resolve) =>
      socket.once("connect", () => resolve(true)).once("error", () => resolve(false)),
    );
    socket.destroy();
    if (isOpen) return;
    await sleep(20);
  }
}

const bullmq = (appendfsync: string): Peer => ({
  name: `Express, BullMQ, Redis (appendfsync ${appendfsync})`,
  version: `${versionOf("express")}, ${versionOf("bullmq")}, ${redisVersion() ?? "?"}`,
  answers: "when Redis has the jobs",
  keeps: appendfsync === "always" ? "on disk" : "on disk, up to a second later",
  start: async (ports) => {
    const redis = await startRedis(appendfsync);
    const env = { TARGETS: targetsOf(ports), REDIS_PORT: String(redis.port) };
    return runProgram(["apps/bullmq.mjs"], env, await freePort(), /^ready/, redis);
  },
});

const graphile = (): Peer => ({
  name: "Express, graphile-worker, PostgreSQL",
  version: `${versionOf("express")}, ${versionOf("graphile-worker")}, 18`,
  answers: "when PostgreSQL has the jobs",
  keeps: "on disk",
  start: async (ports) => {
    const server = await startPostgres({ durable: true });
    const env = { TARGETS: targetsOf(ports), DATABASE_URL: await server.createDatabase() };
    const store: Store = {
      pid: await postmaster(server),
      kill: () => server.kill(),
      start: () => server.restart(),
      stop: () => server.stop(),
    };
    return runProgram(["apps/graphile.mjs"], env, await freePort(), /^ready/, store);
  },
});

const nodeRed = (): Peer => ({
  name: "Node-RED",
  version: versionOf("node-red"),
  answers: "when all platforms have answered",
  keeps: "in memory",
  start: async (ports) => {
    const folder = freshFolder();
    writeFileSync(join(folder, "flows.json"), JSON.stringify(flow(ports)));
    const args = ["node_modules/node-red/red.js", "--settings", "apps/nodeRed.cjs"];
    const port = await freePort();
    const running = await runProgram(args, { FOLDER: folder }, port, /Started flows/, null);
    await untilListening(port);
    return running;
  },
});

/** http in → function → three requests → join → function → http response, as its cookbook shows. */
function flow(ports: readonly number[]): object[] {
  const build = `
const createHash = global.get("createHash");
const sha256 = (text) => createHash("sha256").update(text).digest("hex");
const { email, phone, firstName, lastName, event, value, currency, orderId } = msg.payload;
const [em, ph, fn, ln] = [email, phone, firstName, lastName].map((text) => sha256(text.trim().toLowerCase()));
const payload = { data: [{ event_name: event, event_time: Math.floor(Date.now() / 1000), event_id: sha256(event + " " + orderId).slice(0, 32),
  user_data: { em, ph, fn, ln }, custom_data: { value, currency, order_id: orderId } }] };
const headers = { "content-type": "application/json", authorization: "Bearer EAAexample" };
return [0, 1, 2].map((index) => ({ ...msg, payload, headers, event, parts: { id: msg._msgid, type: "array", count: 3, index } }));`;
  const finish = `
const isOk = msg.payload.every((one) => one === 200);
msg.statusCode = isOk ? 200 : 502;
msg.headers = {};
msg.payload = { ok: isOk, event: msg.event };
return msg;`;
  const node = (id: string, type: string, more: object) => ({ id, z: "tab", type, name: "", x: 100, y: 100, ...more });
  return [
    { id: "tab", type: "tab", label: "Conversions", disabled: false },
    node("in", "http in", { url: "/__cc/inbound", method: "post", upload: false, wires: [["build"]] }),
    node("build", "function", { func: build, outputs: 3, libs: [], wires: ports.map((_, i) => [`call${i}`]) }),
    ...ports.map((port, i) =>
      node(`call${i}`, "http request", {
        method: "POST",
        ret: "obj",
        url: `http://127.0.0.1:${port}/v1/events`,
        persist: true,
        senderr: false,
        wires: [["status"]],
      }),
    ),
    node("status", "function", { func: "msg.payload = msg.statusCode; return msg;", outputs: 1, libs: [], wires: [["join"]] }),
    node("join", "join", { mode: "auto", wires: [["finish"]] }),
    node("finish", "function", { func: finish, outputs: 1, libs: [], wires: [["out"]] }),
    node("out", "http response", { wires: [] }),
  ];
}

const walkerOs = (): Peer => ({
  name: "walkerOS collector, Express",
  version: `${versionOf("@walkeros/collector")}, ${versionOf("express")}`,
  answers: "when all platforms have answered",
  keeps: "in memory",
  start: async (ports) => runProgram(["apps/walkeros.mjs"], { TARGETS: targetsOf(ports) }, await freePort(), /^ready/, null),
});

const ownVersion = JSON.parse(readFileSync(`${here}../../package.json`, "utf8")).version;

const cleancast = (engine: Engine): Peer => ({
  name: `Cleancast, ${engine === "sqlite" ? "SQLite" : "PostgreSQL"}`,
  version: ownVersion,
  answers: "when all platforms have answered, with each one's verdict",
  keeps: "on disk",
  start: async ([meta = 0, tiktok = 0, segment = 0]) => {
    const server = engine === "postgres" ? await benchPostgres() : null;
    const state = { ports: { meta, tiktok, segment, snapchat: 1, ga4: 1, x: 1 }, requests: 0 };
    const installation = await install(engine, ["meta", "tiktok", "segment"], state);
    const port = await freePort();
    installation.env.PORT = String(port);
    let relay = await startRelay(installation);
    const store: Store | null = server && {
      pid: await postmaster(server),
      kill: () => server.kill(),
      start: () => server.restart(),
      stop: () => server.stop(),
    };
    return {
      port,
      key: installation.key,
      pid: () => relay.pid,
      kill: () => relay.kill(),
      start: async () => {
        relay = await startRelay(installation);
      },
      stop: async () => {
        await relay.stop();
        await stopPostgres();
      },
      store,
    };
  },
});

/** After `installPeers`: their versions are those that are installed. */
export const allPeers = (): Peer[] => [
  cleancast("sqlite"),
  cleancast("postgres"),
  nodeRed(),
  walkerOs(),
  ...(redisVersion() === null ? [] : [bullmq("everysec"), bullmq("always")]),
  graphile(),
];
