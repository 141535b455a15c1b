// Asks servers whether they can be written to.

import { setTimeout as sleep } from "node:timers/promises";
import { Client, type ClientBase } from "pg";
import { isPassing, StoreFault } from "./postgresErrors.ts";

const probeMs = 3000;
/** How long the others may take to say that they are written to, too. */
const graceMs = 250;

/** A server that became a standby since it was found would answer reads with what was true then. */
export async function refuseReadOnly(client: ClientBase): Promise<void> {
  const { rows } = await client.query<{ transaction_read_only: string }>("SHOW transaction_read_only");
  if (rows[0]?.transaction_read_only === "on") throw new StoreFault("25006", "the server can only be read");
}

type Found = { server: string; timeline: number };

/** The one that can be written to; of several, the one that was promoted last. Fails with why there is none. */
export async function writableAmong(servers: readonly string[]): Promise<string> {
  const found: Found[] = [];
  const probes = servers.map(async (server) => void found.push(await probe(server)));
  await Promise.any(probes).catch((error: AggregateError) => {
    throw error.errors.find((one) => !isPassing(one)) ?? error.errors[0];
  });
  // A former primary that somebody started again can be written to as well, and must not be.
  await Promise.race([Promise.allSettled(probes), sleep(graceMs)]);
  return (found.toSorted((a, b) => b.timeline - a.timeline)[0] as Found).server;
}

async function probe(server: string): Promise<Found> {
  const client = new Client({
    connectionString: server,
    connectionTimeoutMillis: probeMs,
    query_timeout: probeMs,
    application_name: "cleancast probe",
  });
  client.on("error", () => {});
  try {
    await client.connect();
    await refuseReadOnly(client);
    return { server, timeline: await timelineOf(client) };
  } finally {
    client.end().catch(() => {});
  }
}

/** Counts promotions. Databases that only speak like PostgreSQL have none. */
async function timelineOf(client: Client): Promise<number> {
  const asked = client.query<{ name: string }>("SELECT pg_walfile_name(pg_current_wal_lsn()) AS name");
  const { rows } = await asked.catch(() => ({ rows: [] as { name: string }[] }));
  return Number.parseInt(rows[0]?.name.slice(0, 8) ?? "0", 16);
}
