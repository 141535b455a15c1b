// Single connections next to the pools: for probes, and for commands that read or write a whole database.

import { Socket } from "node:net";
import { Client, types as pgTypes, type ClientConfig, type CustomTypesConfig } from "pg";
import { readDialectFlags } from "./dialect.ts";
import { PostgresError, sqlState } from "./errors.ts";

/** Times and counts are `bigint`; all of ours fit a JavaScript number. */
export const types: CustomTypesConfig = {
  getTypeParser: (oid, format) => (oid === pgTypes.builtins.INT8 ? Number : pgTypes.getTypeParser(oid, format)),
};

type Abilities = {
  /** Statements are sent without waiting for those before. Else the driver would queue them, which its next version refuses. */
  isPipelined: boolean;
  /** A statement can be prepared once for the connection. A pooler may give the next transaction another connection. */
  keepsStatements: boolean;
};

const abilities = new WeakMap<object, Abilities>();

export function noteClient(client: object, server: string, isPipelined: boolean): void {
  abilities.set(client, { isPipelined, keepsStatements: !readDialectFlags(server).transactionPooler });
}

export const abilitiesOf = (client: object): Abilities => abilities.get(client) ?? { isPipelined: false, keepsStatements: true };

type ClientLimits = {
  /** How long a server may take to accept a connection, or to answer a probe. */
  answerTimeoutMs: number;
  /** How often the server is probed during a long statement. */
  probeEveryMs: number;
};

const defaultLimits: ClientLimits = { answerTimeoutMs: 5000, probeEveryMs: 10_000 };

/** Returns a client that is not connected yet. */
export function createClient(server: string, sessionName: string, answerTimeoutMs: number, more: ClientConfig = {}): Client {
  const client = new Client({
    connectionString: server,
    application_name: sessionName,
    connectionTimeoutMillis: answerTimeoutMs,
    types,
    ...more,
  });
  // Without a listener, a connection that breaks between two queries would end the process. With one, the next query fails.
  client.on("error", () => {});
  noteClient(client, server, more.pipeline === true);
  return client;
}

/**
 * Connects for statements of any length: a table may be large. A second connection probes the server; when the server no
 * longer answers, the running statement fails.
 */
export async function connectClient(server: string, sessionName: string, limits: ClientLimits = defaultLimits): Promise<Client> {
  const socket = new Socket();
  const client = createClient(server, sessionName, limits.answerTimeoutMs, { stream: () => socket });
  await client.connect().catch((error: unknown) => {
    // The driver's own error for a timeout has no code.
    throw sqlState(error) === "08006" ? new PostgresError("08006", "the server does not answer", error) : error;
  });
  async function probeServer(): Promise<void> {
    if (await answers(server, limits.answerTimeoutMs)) return;
    socket.destroy(new PostgresError("08006", "the server no longer answers"));
  }
  const timer = setInterval(() => void probeServer(), limits.probeEveryMs);
  client.once("end", () => clearInterval(timer));
  return client;
}

/** Returns true for any answer, such as that of a server without free connections. */
async function answers(server: string, timeoutMs: number): Promise<boolean> {
  const client = createClient(server, "cleancast probe", timeoutMs, { query_timeout: timeoutMs });
  try {
    await client.connect();
    await client.query("SELECT 1");
    return true;
  } catch (error) {
    return sqlState(error) !== "08006";
  } finally {
    client.end().catch(() => {});
  }
}

/** Less than a machine needs that is there, whose kernel answers however busy its programs are. */
const reachTimeoutMs = 1000;

/**
 * Returns true when the server, or a pooler in front of it, lets a client in or refuses it. It is not asked anything: a pooler would
 * wait for a free connection.
 */
export async function admits(server: string, timeoutMs: number): Promise<boolean> {
  const socket = new Socket();
  const client = createClient(server, "cleancast probe", timeoutMs, { stream: () => socket });
  const giveUp = () => void (socket.connecting && socket.destroy(new PostgresError("08006", "the server cannot be reached")));
  // After the answers that have arrived meanwhile: this thread may have been busy itself.
  const timer = setTimeout(() => setImmediate(giveUp), reachTimeoutMs);
  try {
    await client.connect();
    return true;
  } catch (error) {
    return sqlState(error) !== "08006";
  } finally {
    clearTimeout(timer);
    client.end().catch(() => {});
  }
}
