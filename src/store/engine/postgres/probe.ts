// Probes servers to find the one that can be written to, and the state of each.

import { setTimeout as sleep } from "node:timers/promises";
import type { ClientBase } from "pg";
import { createClient } from "./client.ts";
import { isTransient, noteServers, PostgresError, sqlState } from "./errors.ts";
import { serverNames, serverUrls } from "./servers.ts";

export const probeTimeoutMs = 3000;
/** How long the other servers may take to answer after the first writable one. */
const graceMs = 250;
/** The same where no primary is known yet: the one that was promoted last may be far away. */
const firstGraceMs = 1000;
/** After this time one refusal ends a round, so that servers that answer are probed again however long others are silent. */
const roundMs = 1000;

const readOnly = "25006";
const coordinator = "0";

/** `timeline` counts the promotions of the data, which `system` identifies. */
export type Timeline = { system: string; timeline: number };

/** A server that can be written to. `machine` is its number in a Citus cluster, where the coordinator has "0"; else null. */
export type WritableServer = Timeline & { server: string; machine: string | null };

/**
 * Throws if the server became a standby since it was found: it would answer reads with old data. Returns the id of the
 * server process behind the connection.
 */
export async function refuseReadOnly(client: ClientBase): Promise<number> {
  const { rows } = await client.query<{ read_only: string; pid: number }>(
    "SELECT current_setting('transaction_read_only') AS read_only, pg_backend_pid() AS pid",
  );
  if (rows[0]?.read_only === "on") throw new PostgresError(readOnly, "the server is read-only");
  return Number(rows[0]?.pid);
}

/** Throws if another server answers under the same name since it was found: it may lack the last commits. */
export async function refuseOtherTimeline(client: ClientBase, expected: Timeline): Promise<void> {
  // Without a timeline there is nothing to compare, and the failed query would end a transaction.
  if (expected.system && !isSameTimeline(await readTimeline(client), expected))
    throw new PostgresError("57P02", "another server has taken the place of the primary");
}

/**
 * Finds the server that can be written to; of several, the one that was promoted last. A former primary that was started
 * again can be written to as well and must not be, so a server with an older timeline than `known` does not count. Throws
 * with the reason of each server where there is none.
 */
export async function findPrimary(
  servers: readonly string[],
  known: WritableServer | null = null,
  othersMs = known ? graceMs : firstGraceMs,
  probeServer: (server: string) => Promise<WritableServer> = (server) => probe(server),
): Promise<WritableServer> {
  const found: WritableServer[] = [];
  const errors: unknown[] = servers.map(() => new PostgresError("08006", "it has not answered yet"));
  const probes = servers.map(async (server, i) => {
    try {
      const one = await probeServer(server);
      if (isWorker(one)) throw new NotCoordinator(readOnly, "it is a worker of the cluster and not its coordinator");
      if (isOlderTimeline(one, known)) throw new PostgresError(readOnly, "another server was promoted after it");
      found.push(one);
    } catch (error) {
      errors[i] = error;
      throw error;
    }
  });
  await Promise.race([Promise.any(probes), firstRefusal(probes)]).catch(() => {
    throw noPrimary(servers, errors);
  });
  await Promise.race([Promise.allSettled(probes), sleep(othersMs, null, { ref: false })]);
  return found.toSorted((a, b) => b.timeline - a.timeline)[0] as WritableServer;
}

/** Rejects with the first refusal, once a round is over. */
async function firstRefusal(probes: readonly Promise<void>[]): Promise<never> {
  await sleep(roundMs, null, { ref: false });
  const refusals = probes.map((one) => one.then(() => new Promise<never>(() => {})));
  return Promise.race(refusals);
}

/** Runs one probe per server at a time: a slow one is awaited over several rounds. */
export function probeOncePerServer(timeoutMs: () => number): (server: string) => Promise<WritableServer> {
  const running = new Map<string, Promise<WritableServer>>();
  return (server) => {
    const probing = running.get(server) ?? probe(server, timeoutMs()).finally(() => running.delete(server));
    running.set(server, probing);
    return probing;
  };
}

/** A worker of a Citus cluster, which cannot be the primary. */
export const isWorker = ({ machine }: Pick<WritableServer, "machine">) => machine !== null && machine !== coordinator;

export const isSameTimeline = (one: Timeline, other: Timeline) => one.system === other.system && one.timeline === other.timeline;

export const isOlderTimeline = (one: WritableServer, other: WritableServer | null) =>
  other !== null && one.system === other.system && one.timeline < other.timeline;

/** A worker answers, so the failure is none of its own. */
class NotCoordinator extends PostgresError {}

/** The error is transient as long as one of the servers may come back. It speaks of those that failed. */
function noPrimary(servers: readonly string[], errors: readonly unknown[]): unknown {
  const failed = servers.filter((_, i) => !(errors[i] instanceof NotCoordinator));
  const only = errors.find((error) => !(error instanceof NotCoordinator));
  if (failed.length === 1) return noteServers(only, failed);
  const code = errors.some(isTransient) ? "08001" : sqlState(errors[0]) || "28000";
  const reasons = servers.map((server, i) => `${serverNames([server])} (${messageOf(errors[i])})`);
  return noteServers(new PostgresError(code, `no server can be written to: ${reasons.join(", ")}`, errors[0]), failed);
}

/** A name with several addresses fails with an error for each, and an empty message of its own. */
function messageOf(error: unknown): string {
  return error instanceof Error && error.message ? error.message : sqlState(error);
}

export async function probe(server: string, timeoutMs = probeTimeoutMs): Promise<WritableServer> {
  const client = createClient(server, "cleancast probe", timeoutMs, { query_timeout: timeoutMs });
  try {
    await client.connect();
    await refuseReadOnly(client);
    return { server, ...(await readTimeline(client)), machine: await readMachine(client) };
  } finally {
    client.end().catch(() => {});
  }
}

async function readMachine(client: ClientBase): Promise<string | null> {
  const { rows } = await client.query(`SELECT 1 FROM pg_extension WHERE extname = 'citus'`);
  if (rows.length === 0) return null;
  const found = await client.query<{ groupid: number }>(`SELECT groupid FROM pg_dist_local_group`);
  return String(found.rows[0]?.groupid ?? coordinator);
}

/** Databases that are only compatible with PostgreSQL have no timeline. */
async function readTimeline(client: ClientBase): Promise<Timeline> {
  const reading = client.query<{ file: string; system: string }>(
    `SELECT pg_walfile_name(pg_current_wal_lsn()) AS file, (SELECT CAST(system_identifier AS text) FROM pg_control_system()) AS system`,
  );
  const { rows } = await reading.catch(() => ({ rows: [] }));
  return { system: rows[0]?.system ?? "", timeline: Number.parseInt(rows[0]?.file.slice(0, 8) ?? "0", 16) };
}

export type ServerState = {
  /** Name and port. */
  name: string;
  state: "written" | "read" | "out";
  /** Counts the promotions; of the writable servers, the one with the highest is used. */
  timeline: number;
  /** Says why the server is out. */
  reason: string;
  /** A worker of a Citus cluster, which statements of its sites go to. It cannot be the primary. */
  isWorker: boolean;
};

/** Reads the present state of each server in DATABASE_URL. */
export function serverStates(url: string): Promise<ServerState[]> {
  return Promise.all(serverUrls(url).map(serverState));
}

async function serverState(server: string): Promise<ServerState> {
  const name = serverNames([server]);
  try {
    const { timeline, machine } = await probe(server);
    return { name, state: "written", timeline, reason: "", isWorker: isWorker({ machine }) };
  } catch (error) {
    const isRead = sqlState(error) === readOnly;
    const reason = isRead ? "" : messageOf(error);
    return { name, state: isRead ? "read" : "out", timeline: 0, reason, isWorker: false };
  }
}
