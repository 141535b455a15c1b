import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { createInterface } from "node:readline";
import { Client, type QueryResultRow } from "pg";
import { afterEach, assert, expect, test } from "vitest";
import { freshDatabase, freshFolder } from "../databases.ts";
import { type Postgres, type PostgresOptions, startPostgres, withClient } from "./postgres.ts";

const started: Postgres[] = [];

afterEach(async () => {
  await Promise.all(started.splice(0).map((postgres) => postgres.stop()));
});

async function start(options?: PostgresOptions): Promise<Postgres> {
  const postgres = await startPostgres(options);
  started.push(postgres);
  return postgres;
}

function query<Row extends QueryResultRow>(url: string, text: string): Promise<Row[]> {
  return withClient(url, async (client) => (await client.query<Row>(text)).rows);
}

/** Asks a server for its folder, processes and shared memory on this machine. */
async function resourcesOf(url: string): Promise<{ folder: string; processes: number[]; segment: string }> {
  const [row] = await query<{ data: string; file: string; children: number[] }>(
    url,
    `select current_setting('data_directory') as data, pg_read_file('postmaster.pid') as file,
            array(select pid from pg_stat_activity where pid <> pg_backend_pid()) as children`,
  );
  assert(row);
  const lines = row.file.split("\n");
  const server = Number(lines[0]);
  const supervisor = Number(/^\d+ \(.*\) \S (\d+)/.exec(readFileSync(`/proc/${server}/stat`, "utf8"))?.[1]);
  // The seventh line is the key and the number of the shared memory segment.
  const segment = lines[6]?.trim().split(/\s+/)[1] ?? "";
  return { folder: dirname(row.data), processes: [supervisor, server, ...row.children], segment };
}

function isSharedMemory(segment: string): boolean {
  const lines = readFileSync("/proc/sysvipc/shm", "utf8").split("\n");
  return lines.some((line) => line.trim().split(/\s+/)[1] === segment);
}

function isRunning(pid: number): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}

test("a started server is PostgreSQL 18, with UTF-8 and plain byte order", async () => {
  const { url } = await start();
  const rows = await query(
    url,
    `select version(), current_setting('server_encoding') as encoding, current_setting('fsync') as fsync,
            current_setting('max_connections') as connections, datcollate as collation
       from pg_database where datname = current_database()`,
  );
  expect(rows).toEqual([
    {
      version: expect.stringMatching(/^PostgreSQL 18\./),
      encoding: "UTF8",
      fsync: "off",
      connections: "200",
      collation: "C",
    },
  ]);
});

test("a durable server writes through to the disk", async () => {
  const { url } = await start({ durable: true, maxConnections: 20 });
  const rows = await query(
    url,
    "select name, setting from pg_settings where name in ('fsync', 'full_page_writes', 'max_connections', 'synchronous_commit') order by name",
  );
  expect(rows.map(({ setting }) => setting)).toEqual(["on", "on", "20", "on"]);
});

test("two servers started at once are independent", async () => {
  const [one, two] = await Promise.all([start(), start()]);
  expect(one.url).not.toBe(two.url);
  await query(await one.createDatabase(), "create table only_here (id int)");
  const count = "select count(*)::int from pg_database where datname like 'test\\_%'";
  expect(await query(one.url, count)).toEqual([{ count: 1 }]);
  expect(await query(two.url, count)).toEqual([{ count: 0 }]);
});

test("a stopped server leaves no process and no folder", async () => {
  const postgres = await startPostgres();
  const { folder, processes } = await resourcesOf(postgres.url);
  expect(processes.length).toBeGreaterThan(4);
  expect(processes.filter((pid) => !isRunning(pid))).toEqual([]);
  expect(existsSync(folder)).toBe(true);
  await postgres.stop();
  expect(processes.filter(isRunning)).toEqual([]);
  expect(existsSync(folder)).toBe(false);
  await postgres.stop();
  await expect(postgres.restart()).rejects.toThrow("deleted the data");
});

test("a server whose owner is killed is gone with its data within five seconds", async () => {
  const launcher = JSON.stringify(new URL("./postgres.ts", import.meta.url).href);
  const script = `import { startPostgres } from ${launcher}; console.log((await startPostgres()).url);`;
  const owner = spawn(process.execPath, ["--input-type=module", "--eval", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let url = "";
  for await (const line of createInterface({ input: owner.stdout })) {
    url = line;
    break;
  }
  const { folder, processes } = await resourcesOf(url);
  expect(existsSync(folder)).toBe(true);

  owner.kill("SIGKILL");
  await expect.poll(() => existsSync(folder) || processes.some(isRunning)).toBe(false);
});

test("a killed server comes back on the same port with what was committed", async () => {
  const postgres = await start({ durable: true });
  const { processes } = await resourcesOf(postgres.url);
  const url = await postgres.createDatabase();
  await query(url, "create table kept (id int); insert into kept values (1)");
  const unfinished = new Client({ connectionString: url });
  unfinished.on("error", () => {});
  await unfinished.connect();
  await unfinished.query("begin");
  await unfinished.query("insert into kept values (2)");

  await postgres.kill();
  // The first is the supervisor, which keeps the data.
  expect(processes.slice(1).filter(isRunning)).toEqual([]);
  await expect(query(url, "select 1")).rejects.toThrow("ECONNREFUSED");

  await postgres.restart();
  expect(await query(url, "select id from kept")).toEqual([{ id: 1 }]);
});

test("a server that was shut down with keepData, or is still running, restarts with all its data", async () => {
  const postgres = await start();
  const url = await postgres.createDatabase();
  await query(url, "create table kept (id int); insert into kept values (1)");
  await postgres.stop({ keepData: true });
  await expect(query(url, "select 1")).rejects.toThrow("ECONNREFUSED");
  await postgres.restart();
  await postgres.restart();
  expect(await query(url, "select id from kept")).toEqual([{ id: 1 }]);
});

test("a server that was killed and then stopped leaves no folder and no shared memory", async () => {
  const postgres = await startPostgres();
  const { folder, segment } = await resourcesOf(postgres.url);
  expect(isSharedMemory(segment)).toBe(true);
  await postgres.kill();
  await postgres.stop();
  expect(existsSync(folder)).toBe(false);
  expect(isSharedMemory(segment)).toBe(false);
});

test("each fresh database is empty and each fresh folder is new", async () => {
  const [one, two] = [await freshDatabase(), await freshDatabase()];
  await query(one, "create table only_here (id int)");
  const tables = "select count(*)::int from pg_tables where schemaname = 'public'";
  expect(await query(two, tables)).toEqual([{ count: 0 }]);
  expect(freshFolder()).not.toBe(freshFolder());
});
