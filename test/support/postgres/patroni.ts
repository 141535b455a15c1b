// A Patroni cluster for tests: etcd and three members on this machine, with a synchronous standby in strict mode. A shell starts and
// supervises all of it: when this process ends in any way, the shell ends every server and deletes the folder.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { call } from "../relay.ts";
import { freePort } from "../servers/freePort.ts";
import { findProgram } from "../servers/programs.ts";
import { findInstalled } from "./binaries.ts";
import { createDatabase, killServer } from "./postgres.ts";

type PatroniPrograms = { patroni: string; etcd: string; bin: string };

/** The programs, where all of them are installed; null elsewhere. */
export function findPatroni(): PatroniPrograms | null {
  const [patroni, etcd] = [findProgram("patroni"), findProgram("etcd")];
  const installed = findInstalled(15);
  return patroni && etcd && installed ? { patroni, etcd, bin: join(installed, "bin") } : null;
}

export type Patroni = {
  /** Creates an empty database and returns its name. */
  createDatabase(): Promise<string>;
  /** A URL that lists all members. */
  url(database: string): string;
  /** The URL of the present leader alone. */
  leaderUrl(database: string): Promise<string>;
  /** The names of the members, as Patroni sees them; `sync` is the synchronous standby. */
  roles(): Promise<Roles>;
  /** Waits until there is a leader, and as many streaming standbys as members are running, one of them synchronous. */
  settle(): Promise<Roles>;
  /** Kills the processes of PostgreSQL, and not Patroni. */
  killPostgres(name: string): Promise<void>;
  /** Kills PostgreSQL and Patroni of a member, like a machine that is lost. */
  killMember(name: string): Promise<void>;
  startMember(name: string): Promise<void>;
  /** Asks Patroni to make the synchronous standby the leader. */
  switchOver(): Promise<void>;
  stop(): Promise<void>;
};

type Roles = { leader: string; sync: string; others: string[] };

/** The shortest that Patroni permits. */
export const ttlSeconds = 20;

const nobody = 65_534;

const supervisor = `
trap '' HUP INT TERM PIPE
folder=$1
pids=
while read -r program name file; do
  case $program in
  kill) kill -KILL "$name" 2>/dev/null; wait "$name" 2>/dev/null; echo ;;
  *)
    "$program" $file </dev/null >>"$name.log" 2>&1 &
    pids="$pids $!"
    echo $!
    ;;
  esac
done
for pid in $pids; do kill -KILL "$pid" 2>/dev/null; done
for file in "$folder"/*/postmaster.pid; do
  [ -e "$file" ] || continue
  server=$(head -1 "$file")
  # A killed server leaves its file, and another process may have its number by now.
  while [ "$(readlink "/proc/$server/cwd")" = "\${file%/postmaster.pid}" ]; do kill -QUIT "$server" 2>/dev/null; sleep 0.05; done
done
cd / && tries=0
until rm -rf "$folder" || [ "$tries" -gt 100 ]; do tries=$((tries + 1)); sleep 0.05; done
`;

type Member = { name: string; port: number; apiPort: number; pid: string | null };
type ClusterMember = { name: string; role: string; state: string };

export async function startPatroni({ patroni, etcd, bin }: PatroniPrograms): Promise<Patroni> {
  const user = process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : {};
  const folder = mkdtempSync(join(tmpdir(), "cleancast-patroni-"));
  chmodSync(folder, 0o755);
  if (user.uid !== undefined) chownSync(folder, nobody, nobody);
  const shell = spawn("/bin/sh", ["-c", supervisor, "patroni-supervisor", folder], {
    ...user,
    cwd: folder,
    env: { PATH: `${process.env["PATH"] ?? ""}:/usr/bin:/bin`, LC_ALL: "C", TZ: "UTC", HOME: folder },
    detached: true,
    stdio: ["pipe", "pipe", "ignore"],
  });
  const ended = once(shell, "exit");
  const replies = createInterface({ input: shell.stdout })[Symbol.asyncIterator]();
  shell.stdin.on("error", () => {});

  async function order(words: string): Promise<string> {
    shell.stdin.write(`${words}\n`);
    const reply = await replies.next();
    if (reply.done === true) throw new Error(`the supervisor ended before it did: ${words}`);
    return reply.value;
  }

  const etcdPort = await freePort();
  const peerPort = await freePort();
  const etcdUrl = `http://127.0.0.1:${etcdPort}`;
  const peerUrl = `http://127.0.0.1:${peerPort}`;
  await order(
    [
      `${etcd} etcd --data-dir=etcd --unsafe-no-fsync --log-level=error`,
      `--listen-client-urls=${etcdUrl} --advertise-client-urls=${etcdUrl} --listen-peer-urls=${peerUrl}`,
      `--initial-advertise-peer-urls=${peerUrl} --initial-cluster=default=${peerUrl}`,
    ].join(" "),
  );

  const members: Member[] = [];
  for (const name of ["one", "two", "three"])
    members.push({
      name,
      port: await freePort(),
      apiPort: await freePort(),
      pid: null,
    });

  const dataOf = ({ name }: Member) => join(folder, `data-${name}`);
  const configOf = (member: Member) => ({
    scope: "cleancast",
    name: member.name,
    restapi: { listen: `127.0.0.1:${member.apiPort}`, connect_address: `127.0.0.1:${member.apiPort}` },
    etcd3: { host: `127.0.0.1:${etcdPort}` },
    bootstrap: {
      dcs: {
        ttl: ttlSeconds,
        loop_wait: 2,
        retry_timeout: 5,
        synchronous_mode: true,
        synchronous_mode_strict: true,
        postgresql: {
          use_pg_rewind: true,
          parameters: { max_connections: 100, wal_log_hints: "on", wal_keep_size: "512MB" },
        },
      },
      initdb: [{ encoding: "UTF8" }, { locale: "C" }],
      pg_hba: ["host all all 127.0.0.1/32 trust", "host replication all 127.0.0.1/32 trust"],
    },
    postgresql: {
      listen: `127.0.0.1:${member.port}`,
      connect_address: `127.0.0.1:${member.port}`,
      data_dir: dataOf(member),
      bin_dir: bin,
      pgpass: join(folder, `pgpass-${member.name}`),
      authentication: {
        superuser: { username: "postgres", password: "postgres" },
        replication: { username: "replicator", password: "replicator" },
        rewind: { username: "postgres", password: "postgres" },
      },
      parameters: { unix_socket_directories: folder, dynamic_shared_memory_type: "mmap" },
    },
  });

  /** A member that Patroni does not answer for is asked for by another. */
  async function ask(path: string, body?: unknown): Promise<{ status: number; text: string }> {
    for (const { apiPort, pid } of members) {
      if (pid === null) continue;
      const request = body === undefined ? { method: "GET" } : { body: JSON.stringify(body) };
      const headers = { "Content-Type": "application/json" };
      const answer = await call(`http://127.0.0.1:${apiPort}`, { ...request, path, headers }).catch(() => null);
      if (answer) return answer;
    }
    return { status: 0, text: "" };
  }

  async function listMembers(): Promise<ClusterMember[]> {
    const { status, text } = await ask("/cluster");
    return status === 200 ? ((JSON.parse(text) as { members?: ClusterMember[] }).members ?? []) : [];
  }

  const memberNamed = (name: string): Member => {
    const found = members.find((one) => one.name === name);
    if (!found) throw new Error(`there is no member ${name}`);
    return found;
  };

  async function roles(): Promise<Roles> {
    const listed = await listMembers();
    const nameOf = (role: string) => listed.find((one) => one.role === role)?.name ?? "";
    const [leader, sync] = [nameOf("leader"), nameOf("sync_standby")];
    return {
      leader,
      sync,
      others: listed.map(({ name }) => name).filter((name) => name !== leader && name !== sync),
    };
  }

  async function settle(): Promise<Roles> {
    const running = () => members.filter(({ pid }) => pid !== null);
    for (const startedAt = performance.now(); ; await sleep(250)) {
      const listed = await listMembers();
      const isUp = ({ name }: Member) =>
        listed.some((one) => one.name === name && (one.state === "running" || one.state === "streaming"));
      const has = (role: string) => listed.some((one) => one.role === role && memberNamed(one.name).pid !== null);
      const isSettled = running().every(isUp) && has("leader") && (running().length === 1 || has("sync_standby"));
      if (isSettled) return roles();
      if (performance.now() - startedAt > 180_000)
        throw new Error(`Patroni did not settle: ${JSON.stringify(listed)}\n${logs()}`);
    }
  }

  const logs = () => members.map(({ name }) => readFileSync(join(folder, `${name}.log`), "utf8").slice(-1500)).join("\n");

  const serverOf = (member: Member): number | null => {
    const file = join(dataOf(member), "postmaster.pid");
    return existsSync(file) ? Number(readFileSync(file, "utf8").split("\n")[0]) : null;
  };

  async function killPostgres(name: string): Promise<void> {
    const server = serverOf(memberNamed(name));
    if (server !== null) await killServer(server);
  }

  async function startMember(name: string): Promise<void> {
    const member = memberNamed(name);
    const file = join(folder, `${name}.json`);
    // JSON is YAML.
    writeFileSync(file, JSON.stringify(configOf(member)));
    member.pid = await order(`${patroni} ${name} ${file}`);
  }

  async function stop(): Promise<void> {
    shell.stdin.end();
    await ended;
  }

  try {
    for (const { name } of members) {
      await startMember(name);
      // The first becomes the leader, which the others copy.
      if (name === members[0]?.name) await settle();
    }
    await settle();
  } catch (error) {
    await stop();
    throw error;
  }

  const urlOf = ({ port }: Member, database: string) => `postgres://postgres@127.0.0.1:${port}/${database}`;
  const leaderUrl = async (database: string) => urlOf(memberNamed((await settle()).leader), database);
  return {
    async createDatabase() {
      return new URL(await createDatabase(await leaderUrl("postgres"))).pathname.slice(1);
    },
    url: (database) => `postgres://postgres@${members.map(({ port }) => `127.0.0.1:${port}`).join(",")}/${database}`,
    leaderUrl,
    roles,
    settle,
    killPostgres,
    async killMember(name) {
      const member = memberNamed(name);
      // Patroni first: it would start PostgreSQL again.
      await order(`kill ${member.pid ?? ""}`);
      member.pid = null;
      await killPostgres(name);
    },
    startMember,
    async switchOver() {
      const { leader, sync } = await settle();
      const { status, text } = await ask("/switchover", { leader, candidate: sync });
      if (status !== 200) throw new Error(`Patroni refused the switchover: ${status} ${text}`);
    },
    stop,
  };
}
