// The shared engine: any number of nodes on one PostgreSQL, which may have standbys that can take its place.

import { setTimeout as sleep } from "node:timers/promises";
import type { PoolClient } from "pg";
import { abilitiesOf, connectClient } from "./client.ts";
import {
  isOneChunk,
  onOneMachine,
  singleStatements,
  type Database,
  type Query,
  type RowQuery,
  type RowStatement,
  type Value,
} from "../database.ts";
import { postgresDialect, readDialectFlags } from "./dialect.ts";
import {
  commitUnknown,
  isAboutWorker,
  isDataError,
  isServerSuspect,
  isStalePlan,
  isTransient,
  PostgresError,
  sqlState,
} from "./errors.ts";
import { countReaders, type Connections } from "./pool.ts";
import { MachineDown, createMachines, type Machine, type Machines } from "./machines.ts";
import { answersFor, readPlacement, type Placement, type PlacementRequest } from "./placement.ts";
import { createPrimary } from "./primary.ts";
import { refuseOtherTimeline } from "./probe.ts";
import { changeRows, query } from "./statements.ts";
import { createStatementSites } from "./statementSite.ts";
import { serverUrls } from "./servers.ts";

/** How long a caller waits while there is no primary, or its transaction collides with others. */
const defaultTimeoutMs = 1900;
const minPauseMs = 20;
const maxPauseMs = 500;

type PostgresOptions = {
  connections: number;
  /** The name under which other nodes see the connections. */
  sessionName?: string;
  /** How long a commit may wait for a standby. */
  commitTimeoutMs?: number;
  /** How often all of several servers are probed. */
  probeEveryMs?: number;
  /** The tables that are sharded by site. Without them statements are not sent by site. */
  shardedTables?: ReadonlySet<string>;
  /** Finds the machines of the sites; those of a Citus cluster by default. */
  readPlacement?: (request: PlacementRequest) => Promise<Placement>;
};

type PoolName = "readers" | "background" | "writers" | "leases";

/** Takes a connection for the statements of a site, or for others; `confirmTimeline` as in `write`. */
type Take = (siteId: string | null, confirmTimeline?: boolean) => Promise<{ client: PoolClient; on: Connections }>;
type SiteOf = (sql: string, params?: readonly Value[]) => string | null;

/** The connection of one run of a piece of work, as far as it was taken. */
type Held = {
  client: PoolClient | null;
  on: Connections | null;
  /** Those to the primary, which are neither needed nor used where the machine of the site has its own. */
  general: Connections | null;
  machine: Machine | null;
  leave: ReturnType<Machine["enter"]> | null;
};

export function connectPostgres(url: string, options: PostgresOptions): Database {
  const { commitTimeoutMs = 15_000, sessionName = "cleancast", shardedTables, ...rest } = options;
  const flags = readDialectFlags(url);
  const elapsed = () => performance.now();
  const servers = serverUrls(url);
  const primary = createPrimary({ ...rest, sessionName, servers, random: Math.random, elapsed });
  const readSite = createStatementSites(shardedTables ?? new Set());
  const siteOf: SiteOf = (sql, params) => (machines ? readSite(sql, params) : null);
  /** Null where the database is not a cluster whose machines are known. */
  let machines: Machines | null = null;

  /** Runs `work` until it passes, on the server that is the primary by then. */
  async function withRetry<T>(
    pool: PoolName,
    work: (take: Take, isUncertain: boolean) => Promise<T>,
    timeoutMs?: number,
  ): Promise<T> {
    const isWriting = pool === "writers" || pool === "leases";
    let by = elapsed() + (timeoutMs ?? defaultTimeoutMs);
    let wasSilent = false;
    let isUncertain = false;
    for (let pauseMs = minPauseMs; ; pauseMs = Math.min(2 * pauseMs, maxPauseMs)) {
      // While there is no primary, no caller waits longer than those that came when it was lost.
      const waitUntil = timeoutMs === undefined ? Math.min(by, primary.lostSince() + defaultTimeoutMs) : by;
      let isOfSite = false;
      const held: Held = { client: null, on: null, general: null, machine: null, leave: null };
      async function connect(siteId: string | null, confirmTimeline = false): ReturnType<Take> {
        isOfSite = siteId !== null;
        // While there is no coordinator, a listed machine reads in its place.
        const isStandIn = !isOfSite && !isWriting && primary.server() === null;
        const machine = (isStandIn ? machines?.any() : isOfSite && machines?.of(siteId ?? "")) || null;
        // A listed machine needs no coordinator for its own rows. Promotions are those of the coordinator, though. It is asked before
        // the machine is held: its failure says nothing about the machine.
        const direct = machine?.direct() ?? null;
        const general = direct && !confirmTimeline ? null : await primary.connections(waitUntil);
        const on = direct ?? (general && machine?.through(general)) ?? general;
        if (!on) throw new MachineDown();
        Object.assign(held, { general, on: general });
        if (general && confirmTimeline && on.server !== general.server) await confirmServer(general);
        Object.assign(held, { machine, on });
        held.leave = machine ? machine.enter(siteId) : primary.enter();
        const client = await on[pool].connect();
        held.client = client;
        return { client, on };
      }
      let taking: ReturnType<Take> | null = null;
      try {
        const result = await work((...given) => (taking = connect(...given)), isUncertain);
        held.client?.release();
        held.leave?.(true);
        held.machine?.setFound(true);
        return result;
      } catch (error) {
        // Work may fail for a reason of its own before it has its connection.
        await (taking as ReturnType<Take> | null)?.catch(() => {});
        const { client, on, general, machine } = held;
        // Without a coordinator listed machines go on.
        if (!on && isTransient(error) && machines?.any()) throw new MachineDown(error, "coordinator of the database");
        if (client) await releaseFailed(client, error, isWriting);
        // A server that refuses connections may no longer be the primary, unless it is only full.
        const isRefused = client === null && sqlState(error) !== "53300";
        const isSuspect = isRefused || isServerSuspect(error);
        held.leave?.(!isSuspect && sqlState(error) !== "57014");
        // Nothing was tried: there is no primary, or the machine of the site is silent.
        if (!on || error instanceof MachineDown) throw error;
        if (isOfSite && machine?.isSilent()) throw new MachineDown(error);
        // The coordinator says with 08… that it cannot reach the machine.
        if (isSuspect || (isOfSite && isAboutWorker(error))) machine?.setFound(false);
        if (isSuspect) suspect(on, general, machine);
        // A read whose time passed while a server was silent may ask the next one, once.
        if (!isWriting && isServerSuspect(error) && !wasSilent) {
          wasSilent = true;
          by = elapsed() + defaultTimeoutMs;
        }
        const mayPass = isRefused || isTransient(error);
        const isOfMachine = mayPass && ((isOfSite && machine !== null) || (machines !== null && isAboutWorker(error)));
        if (!mayPass || elapsed() + pauseMs >= by) throw isOfMachine ? new MachineDown(error) : error;
        isUncertain ||= sqlState(error) === commitUnknown;
      }
      // With jitter, so that transactions that collided do not collide again.
      await sleep(pauseMs * (0.5 + Math.random() / 2));
    }
  }

  /** A machine that is connected to directly says nothing about the coordinator. */
  function suspect(on: Connections, general: Connections | null, machine: Machine | null): void {
    if (general && (!machine || on.server === general.server)) primary.suspect(general);
    else machine?.avoid();
  }

  const reading = (pool: PoolName) => (sql: string, params?: readonly Value[]) =>
    withRetry(pool, async (take) => query((await take(siteOf(sql, params))).client, sql, params));
  const all = reading("readers");

  /** Null until the server was asked. */
  let sharded: boolean | null = flags.asSharded || null;
  async function isSharded(): Promise<boolean> {
    if (sharded !== null) return sharded;
    const isCitus = (await all(`SELECT 1 AS n FROM pg_extension WHERE extname = 'citus'`)).length > 0;
    if (isCitus && shardedTables) await useMachines((request) => readPlacement({ all }, servers, request));
    return (sharded = isCitus);
  }

  async function useMachines(read: NonNullable<PostgresOptions["readPlacement"]>): Promise<void> {
    machines ??= createMachines({
      readPlacement: read,
      answersFor,
      connections: options.connections,
      sessionName,
      coordinator: () => primary.server(),
      elapsed,
      random: Math.random,
    });
    await machines.read();
  }
  if (options.readPlacement) void useMachines(options.readPlacement);

  async function onDedicatedConnection<T>(work: (session: Query) => Promise<T>): Promise<T> {
    const { server } = await primary.connections(elapsed() + defaultTimeoutMs);
    const client = await connectClient(server, sessionName);
    try {
      return await work({ all: (sql, params) => query(client, sql, params) });
    } finally {
      await client.end();
    }
  }

  return {
    ...postgresDialect,
    skipLocked: flags.skipLocked ? "FOR UPDATE SKIP LOCKED" : "",
    advisoryLocks: flags.advisoryLocks,
    onDedicatedConnection: flags.advisoryLocks ? onDedicatedConnection : null,
    isSharded,
    readers: countReaders(options.connections),
    all,
    background: { all: reading("background") },
    commitGroup: (siteId) => (sharded === false ? groupOf(siteId) : (machines?.commitGroup(siteId) ?? siteId)),
    write: (work, { timeoutMs, confirmTimeline = false, siteId, isSingle = false } = {}) =>
      withRetry(
        confirmTimeline ? "leases" : "writers",
        async (take, isUncertain) => {
          if (isSingle && !isUncertain && !confirmTimeline) return work(createSingle(take, siteOf, commitTimeoutMs));
          const session = createTransaction(take, siteOf, { isUncertain, confirmTimeline });
          // What `work` knows of promotions holds only on a server whose timeline was confirmed before.
          if (confirmTimeline) await session.begin(siteId ?? null);
          const result = await work(session.tx);
          await session.commit(commitTimeoutMs);
          return result;
        },
        timeoutMs,
      ),
    ...singleStatements,
    promotions: () => primary.promotions(),
    divideSites: async (siteIds) => (await machines?.divide(siteIds)) ?? onOneMachine.divideSites(siteIds),
    countDownMachines: () => (machines?.countDown() ?? 0) + (machines?.any() && primary.server() === null ? 1 : 0),
    isMachineError: (error) => error instanceof MachineDown,
    isDataError,
    isOwnError: (error) => sqlState(error) !== "",
    async close() {
      await machines?.close();
      await primary.close();
    },
  };
}

/** The number of groups of sites whose commits share transactions. */
export const commitGroups = 4;

/** Ids are random, so any part of them divides sites evenly. */
const groupOf = (siteId: string): string => String(siteId.charCodeAt(siteId.length - 1) % commitGroups);

async function releaseFailed(client: PoolClient, error: unknown, isInTransaction: boolean): Promise<void> {
  let isBroken = isServerSuspect(error) || isStalePlan(error);
  if (isInTransaction && !isBroken) await client.query("ROLLBACK").catch(() => (isBroken = true));
  client.release(isBroken);
}

/** A transaction that takes its connection with its first statement, which names the site. */
function createTransaction(
  take: Take,
  siteOf: SiteOf,
  { isUncertain, confirmTimeline }: { isUncertain: boolean; confirmTimeline: boolean },
): { begin(siteId: string | null): Promise<void>; tx: RowQuery; commit(timeoutMs: number): Promise<void> } {
  let beginning: ReturnType<Take> | null = null;

  async function beginFor(siteId: string | null): ReturnType<Take> {
    const taken = await take(siteId, confirmTimeline);
    const { client, on } = taken;
    await begin(client);
    if (confirmTimeline) await refuseOtherTimeline(client, on.timeline);
    // A repeated transaction that finds its work done would write nothing, and its commit would not wait for the standby.
    if (isUncertain) await client.query("SELECT pg_logical_emit_message(true, 'cleancast', '')");
    return taken;
  }

  return {
    async begin(siteId) {
      await (beginning ??= beginFor(siteId));
    },
    tx: {
      async all(sql, params) {
        const { client } = await (beginning ??= beginFor(siteOf(sql, params)));
        return query(client, sql, params);
      },
      async change(statement, rows, first = []) {
        const { client } = await (beginning ??= beginFor(siteOfRows(siteOf, statement, rows, first)));
        return changeRows(client, statement, rows, first);
      },
    },
    async commit(timeoutMs) {
      if (!beginning) return;
      const { client, on } = await beginning;
      await durably(client, on, timeoutMs, () => commit(client));
    },
  };
}

async function confirmServer({ leases, timeline }: Connections): Promise<void> {
  const client = await leases.connect();
  let isConfirmed = false;
  try {
    await refuseOtherTimeline(client, timeline);
    isConfirmed = true;
  } finally {
    client.release(!isConfirmed);
  }
}

/** For one statement, which the server commits by itself. Rows that need several statements get a transaction. */
function createSingle(take: Take, siteOf: SiteOf, timeoutMs: number): RowQuery {
  let isUsed = false;
  async function run<T>(siteId: string | null, work: (client: PoolClient) => Promise<T>): Promise<T> {
    if (isUsed) throw new Error("this write was to be one statement");
    isUsed = true;
    const { client, on } = await take(siteId);
    return durably(client, on, timeoutMs, () => work(client));
  }
  return {
    all: (sql, params) => run(siteOf(sql, params), (client) => query(client, sql, params)),
    async change(statement, rows, first = []) {
      if (rows.length === 0) return [];
      return run(siteOfRows(siteOf, statement, rows, first), async (client) => {
        if (isOneChunk(rows.length)) return changeRows(client, statement, rows, first);
        await begin(client);
        const changed = await changeRows(client, statement, rows, first);
        await commit(client);
        return changed;
      });
    },
  };
}

function siteOfRows(siteOf: SiteOf, { forMany }: RowStatement, rows: readonly (readonly Value[])[], first: readonly Value[]) {
  const [row] = rows;
  return row ? siteOf(forMany(1), [...first, ...row]) : null;
}

/** Where it can, it travels with the first statement, which fails if it fails. */
async function begin(client: PoolClient): Promise<void> {
  const begun = client.query("BEGIN");
  if (abilitiesOf(client).isPipelined) begun.catch(() => {});
  else await begun;
}

async function commit(client: PoolClient): Promise<void> {
  const { command } = await client.query("COMMIT");
  // PostgreSQL answers so to the COMMIT of a transaction in which a statement had failed.
  if (command !== "COMMIT") throw new PostgresError("40000", "the transaction was rolled back");
}

/**
 * Runs what commits. A primary whose wait for its standby was cancelled answers COMMIT all the same, with a warning: if it died now, the
 * transaction would be gone. So its outcome counts as unknown, and it is run again. The server has no time limit for this
 * wait, and keeps waiting when the connection is dropped: so we cancel the wait.
 */
async function durably<T>(client: PoolClient, on: Connections, timeoutMs: number, work: () => Promise<T>): Promise<T> {
  let warned = false;
  const onNotice = ({ code }: { code?: string | undefined }) => void (warned ||= code === "01000");
  client.on("notice", onNotice);
  const timer = setTimeout(() => void on.cancelSyncWait(client).catch(() => {}), timeoutMs);
  try {
    const result = await work();
    if (warned) throw new PostgresError(commitUnknown, "it is not known whether the transaction is durable");
    return result;
  } finally {
    clearTimeout(timer);
    client.off("notice", onNotice);
  }
}
