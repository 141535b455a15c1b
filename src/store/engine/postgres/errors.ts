// Classifies the errors of PostgreSQL and its driver.

import { Refusal } from "../../../kernel/refusal.ts";

/** Serialization failure, deadlock, a server that starts, stops or is full, a read-only server, a session that timed out. */
const transient = new Set(["40001", "40P01", "53300", "57P01", "57P02", "57P03", "57P05", "25P03", "25P04", "25006"]);
/** The server itself reports that it is not, or no longer, the primary. */
const notPrimary = new Set(["57P01", "57P02", "57P03", "25006"]);
const network = new Set([
  "ECONNRESET",
  "ECONNREFUSED",
  "ECONNABORTED",
  "EPIPE",
  "ETIMEDOUT",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENETDOWN",
  "EHOSTDOWN",
  "EAI_AGAIN",
]);
// The driver has no code for a connection that the server, the network or a time limit ended.
const connectionLost =
  /^(?:Connection terminated|Client has encountered a connection error|Client was closed|Query read timeout|timeout expired|Cannot use a pool after)/;

/** A commit of which it is not known whether it is durable. */
export const commitUnknown = "08007";

export class PostgresError extends Error {
  readonly code: string;
  constructor(code: string, message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}

const servers = new WeakMap<object, readonly string[]>();

/** The servers of which an error speaks, where these are not all that are listed. */
export const serversOf = (error: unknown): readonly string[] | undefined => servers.get(Object(error) as object);

export function noteServers(error: unknown, about: readonly string[]): unknown {
  if (error instanceof Error) servers.set(error, about);
  return error;
}

/** Returns the code of an error; "" for one that neither the server nor the driver threw. */
export function sqlState(error: unknown): string {
  if (!(error instanceof Error)) return "";
  if (connectionLost.test(error.message)) return "08006";
  // All connections of our own pool are in use, which does not mean that the server is gone.
  if (error.message === "timeout exceeded when trying to connect") return "53300";
  // The driver has no code for a server without TLS.
  if (error.message === "The server does not support SSL connections") return "08004";
  if (error instanceof Refusal) return "";
  return "code" in error ? String(error.code) : "";
}

/** The data of one statement is at fault. */
export const isDataError = (error: unknown) => /^(22|23|54)/.test(sqlState(error));

/**
 * The connection holds a plan of a statement whose result type a newer node has changed. Another connection, or a new one,
 * has no such plan.
 */
export const isStalePlan = (error: unknown) =>
  sqlState(error) === "0A000" && (error as { routine?: string }).routine === "RevalidateCachedQuery";

/** The same transaction may pass in a moment, here or on another server. */
export function isTransient(error: unknown): boolean {
  const code = sqlState(error);
  return isStalePlan(error) || transient.has(code) || network.has(code) || code.startsWith("08");
}

/**
 * The server may be gone, or may no longer be the primary. A server that itself answers with 08… is not suspect: a
 * coordinator reports so a worker behind it, and a primary its standby.
 */
export function isServerSuspect(error: unknown): boolean {
  const code = sqlState(error);
  if (notPrimary.has(code) || network.has(code)) return true;
  return code.startsWith("08") && code !== commitUnknown && !(error instanceof Error && "severity" in error);
}

/** True for the coordinator's answer that it cannot reach a worker; a connection that breaks here has no severity. */
export const isAboutWorker = (error: unknown): boolean =>
  error instanceof Error && "severity" in error && sqlState(error).startsWith("08");
