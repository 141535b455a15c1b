// A connection of its own, beside the pools: to ask a server something, and for commands that go through a whole database.

import { Socket } from "node:net";
import { Client, type ClientConfig } from "pg";
import { sqlState, StoreFault } from "./errors.ts";
import { types } from "./columnTypes.ts";

export type Limits = {
  /** How long a server may take to let somebody in, or to say that it is there. */
  answerMs: number;
  /** How often one whose statement takes long is asked whether it is there. */
  askMs: number;
};

const usual: Limits = { answerMs: 5000, askMs: 10_000 };

/** Not connected yet. */
export function newClient(server: string, name: string, answerMs: number, more: ClientConfig = {}): Client {
  const client = new Client({
    connectionString: server,
    application_name: name,
    connectionTimeoutMillis: answerMs,
    types,
    ...more,
  });
  // A connection that breaks between two queries has nobody else to tell, and would end the process; the next query fails.
  client.on("error", () => {});
  return client;
}

/**
 * For statements of any length: a table may be large. A server that has fallen silent is told from one that works by
 * asking it beside; then what is under way fails.
 */
export async function openClient(server: string, name: string, limits: Limits = usual): Promise<Client> {
  const socket = new Socket();
  const client = newClient(server, name, limits.answerMs, { stream: () => socket });
  await client.connect().catch((error: unknown) => {
    // The driver's own sentence for a time that is up has no code.
    throw sqlState(error) === "08006" ? new StoreFault("08006", "the server does not answer", error) : error;
  });
  async function look(): Promise<void> {
    if (await isThere(server, limits.answerMs)) return;
    socket.destroy(new StoreFault("08006", "the server does not answer any more"));
  }
  const timer = setInterval(() => void look(), limits.askMs);
  client.once("end", () => clearInterval(timer));
  return client;
}

/** Whatever it answers: one that is full, say, is there. */
async function isThere(server: string, answerMs: number): Promise<boolean> {
  const client = newClient(server, "cleancast probe", answerMs, { query_timeout: answerMs });
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
