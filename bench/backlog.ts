// `npx node bench/backlog.ts` measures how much a failing connection with a backlog of 100,000 deliveries slows down events of the same
// site. Rounds with and without the backlog alternate; the numbers are medians.

import { execFile, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { Agent, createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { idAt } from "../src/kernel/ids.ts";
import { packPlan } from "../src/store/deliveries/plan.ts";
import { median } from "./part.ts";

const backlog = 100_000;
const rounds = 6;
const perRound = 400;
const command = fileURLToPath(new URL("../bin/cleancast.mjs", import.meta.url));
const data = mkdtempSync(join(tmpdir(), "cleancast-bench-"));
const run = promisify(execFile);

const server = createServer((got, answer) => {
  got.resume();
  got.on("end", () => {
    // The failing receiver accepts the request and never answers.
    if (got.url !== "/hangs") answer.end("{}");
  });
});
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
const receiver = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const env = {
  ...process.env,
  CLEANCAST_DATA: data,
  HOST: "127.0.0.1",
  PORT: "0",
  CLEANCAST_ALLOW_PRIVATE: "127.0.0.0/8",
  CLEANCAST_ATTEMPT_SECONDS: "2",
  LOG_LEVEL: "silent",
};
const cleancast = async (...args: string[]): Promise<{ key: string; connection: { id: string } }> =>
  JSON.parse((await run(process.execPath, [command, "--json", ...args], { env })).stdout);

await cleancast("site", "add", "shop.example.com");
const { key } = await cleancast("key", "add", "shop.example.com", "bench");
await cleancast("connection", "add", "shop.example.com", "webhook", `url=${receiver}/works`);
const {
  connection: { id: failing },
} = await cleancast("connection", "add", "shop.example.com", "webhook", `url=${receiver}/hangs`, "events=never");

const relay = spawn(process.execPath, [command, "serve"], { env, stdio: ["ignore", "pipe", "inherit"] });
const origin = await new Promise<string>((resolve) => {
  relay.stdout.setEncoding("utf8").on("data", (text: string) => {
    const port = /localhost:(\d+)/.exec(text)?.[1];
    if (port) resolve(`http://127.0.0.1:${port}`);
  });
});

const agent = new Agent({ keepAlive: true, maxSockets: 8 });
let orders = 0;
function send(): Promise<number> {
  const body = JSON.stringify({ email: `p${orders}@example.com`, event: "lead", orderId: `o-${orders++}` });
  const headers = { "X-CC-Api-Key": key, "Content-Type": "application/json" };
  const began = performance.now();
  return new Promise((resolve, reject) => {
    request(`${origin}/__cc/inbound`, { method: "POST", agent, headers }, (answer) => {
      answer.resume().on("end", () => resolve(performance.now() - began));
    })
      .on("error", reject)
      .end(body);
  });
}

async function round(): Promise<number[]> {
  const times: number[] = [];
  let left = perRound;
  await Promise.all(
    Array.from({ length: 4 }, async () => {
      while (left-- > 0) times.push(await send());
    }),
  );
  return times;
}

const database = new DatabaseSync(join(data, "cleancast.db"), { timeout: 10_000 });
await round();
const [sample] = database.prepare(`SELECT * FROM events ORDER BY id DESC LIMIT 1`).all() as Record<string, unknown>[];
const columns = Object.keys(sample ?? {});
const prefix = idAt(Date.now()).slice(0, 16);
const plan = packPlan([{ connectionId: failing ?? "", platform: "webhook", by: "row", reason: null }]);
const changed: Record<string, string> = {
  id: `printf('${prefix}%010d', n)`,
  plan: `'${plan}'`,
  owner: "''",
};
const copy = columns.map((name) => changed[name] ?? `events.${name}`).join(", ");
database.exec(`WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${backlog})
  INSERT INTO events (${columns.join(", ")})
  SELECT ${copy} FROM numbers, (SELECT * FROM events ORDER BY id DESC LIMIT 1) AS events;
  INSERT INTO deliveries (site_id, event_id, connection_id, platform, state, reason, attempts, due_at, owner, updated_at)
  SELECT site_id, id, '${failing}', 'webhook', 'queued', NULL, 0, 0, '', 0 FROM events WHERE id LIKE '${prefix}%'`);

const setDue = database.prepare(`UPDATE deliveries SET due_at = ?, owner = '' WHERE connection_id = ? AND state = 'queued'`);
const without: number[] = [];
const withBacklog: number[] = [];
for (let i = 0; i < rounds; i++) {
  setDue.run(Date.now() + 3_600_000, failing);
  await new Promise((resolve) => setTimeout(resolve, 2500));
  without.push(...(await round()));
  setDue.run(0, failing);
  await new Promise((resolve) => setTimeout(resolve, 2500));
  withBacklog.push(...(await round()));
}
const memory = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${relay.pid}/status`, "utf8"))?.[1];
console.log(`without a backlog ${median(without).toFixed(2)} ms, with ${backlog} deliveries of a failing connection ${median(withBacklog).toFixed(2)} ms: \
${(median(withBacklog) / median(without)).toFixed(2)} × (limit 1.25); peak memory ${Math.round(Number(memory) / 1024)} MB`);

database.close();
agent.destroy();
relay.kill("SIGKILL");
server.closeAllConnections();
server.close();
rmSync(data, { recursive: true, force: true });
