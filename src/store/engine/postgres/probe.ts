// Asks servers whether they can be written to.

import { setTimeout as sleep } from "node:timers/promises";
import type { Client, ClientBase } from "pg";
import { newClient } from "./client.ts";
import { isPassing, sqlState, StoreFault } from "./errors.ts";
import { namesOf } from "./servers.ts";

export const probeMs = 3000;
/** How long the others may take to say that they are written to, too. */
const graceMs = 250;
/** The same for somebody who knows of none yet: the one that was promoted last may be far away. */
const firstGraceMs = 1000;

const roundMs = 1000;

/** A server that can be written to. `timeline` counts the promotions of the data, which `system` names. */
export type Found = { server: string; system: string; timeline: number };

/**
 * A server that became a standby since it was found would answer reads with what was true then. Returns the number of the
 * server's process behind the connection.
 */
export async function refuseReadOnly(client: ClientBase): Promise<number> {
  const { rows } = await client.query<{ read_only: string; pid: number }>(
    "SELECT current_setting('transaction_read_only') AS read_only, pg_backend_pid() AS pid",
  );
  if (rows[0]?.read_only === "on") throw new StoreFault("25006", "the server can only be read");
  return Number(rows[0]?.pid);
}

/**
 * The one that can be written to; of several, the one that was promoted last. A former primary that somebody started again
 * can be written to as well and must not be: one that was promoted before `known` was is none. Fails with why there is none.
 */
export async function writableAmong(
  servers: readonly string[],
  known: Found | null = null,
  othersMs = known ? graceMs : firstGraceMs,
  ask: (server: string) => Promise<Found> = probe,
): Promise<Found> {
  const found: Found[] = [];
  const errors: unknown[] = servers.map(() => new StoreFault("08006", "it has not answered yet"));
  const probes = servers.map(async (server, i) => {
    try {
      const one = await ask(server);
      if (isBefore(one, known)) throw new StoreFault("25006", "another server was promoted after it");
      found.push(one);
    } catch (error) {
      errors[i] = error;
      throw error;
    }
  });
  await Promise.race([Promise.any(probes), aRefusal(probes)]).catch(() => {
    throw whyNone(servers, errors);
  });
  await Promise.race([Promise.allSettled(probes), sleep(othersMs, null, { ref: false })]);
  return found.toSorted((a, b) => b.timeline - a.timeline)[0] as Found;
}

/** After a second one that says no will do: those who can answer are to be asked again, whoever is silent. */
async function aRefusal(probes: readonly Promise<void>[]): Promise<never> {
  await sleep(roundMs, null, { ref: false });
  const refusals = probes.map((one) => one.then(() => new Promise<never>(() => {})));
  return Promise.race(refusals);
}

/** Asks each server once at a time: who is slow to answer is waited for from round to round. */
export function askOnce(): (server: string) => Promise<Found> {
  const asked = new Map<string, Promise<Found>>();
  return (server) => {
    const asking = asked.get(server) ?? probe(server).finally(() => asked.delete(server));
    asked.set(server, asking);
    return asking;
  };
}

export const isBefore = (one: Found, other: Found | null) =>
  other !== null && one.system === other.system && one.timeline < other.timeline;

/** Waiting is of use as long as one of them may come back, whatever is wrong with the others. */
function whyNone(servers: readonly string[], errors: readonly unknown[]): unknown {
  if (errors.length === 1) return errors[0];
  const code = errors.some(isPassing) ? "08001" : sqlState(errors[0]) || "28000";
  const reasons = servers.map((server, i) => `${namesOf([server])} (${textOf(errors[i])})`);
  return new StoreFault(code, `no server can be written to: ${reasons.join(", ")}`, errors[0]);
}

/** A name with several addresses fails with an error for each, and no sentence of its own. */
export function textOf(error: unknown): string {
  return error instanceof Error && error.message ? error.message : sqlState(error);
}

export async function probe(server: string): Promise<Found> {
  const client = newClient(server, "cleancast probe", probeMs, { query_timeout: probeMs });
  try {
    await client.connect();
    await refuseReadOnly(client);
    return { server, ...(await promotionsOf(client)) };
  } finally {
    client.end().catch(() => {});
  }
}

/** Databases that only speak like PostgreSQL have none. */
async function promotionsOf(client: Client): Promise<Omit<Found, "server">> {
  const asked = client.query<{ file: string; system: string }>(
    `SELECT pg_walfile_name(pg_current_wal_lsn()) AS file, (SELECT CAST(system_identifier AS text) FROM pg_control_system()) AS system`,
  );
  const { rows } = await asked.catch(() => ({ rows: [] }));
  return { system: rows[0]?.system ?? "", timeline: Number.parseInt(rows[0]?.file.slice(0, 8) ?? "0", 16) };
}
