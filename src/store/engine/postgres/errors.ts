// What PostgreSQL and its driver throw, and what follows from it.

/** Serialisation, deadlock, a server that starts, ends or is full, one that may only be read, a session that lasted too long. */
const passing = new Set([
  "40001", "40P01", "53300", "57P01", "57P02", "57P03", "57P05", "25P03", "25P04", "25006",
]); // prettier-ignore
/** The server itself says that it is not, or not any more, the one to write to. */
const leaving = new Set(["57P01", "57P02", "57P03", "25006"]);
const network = new Set([
  "ECONNRESET", "ECONNREFUSED", "ECONNABORTED", "EPIPE", "ETIMEDOUT", "EHOSTUNREACH", "ENETUNREACH", "ENETDOWN",
  "EHOSTDOWN", "EAI_AGAIN",
]); // prettier-ignore
// The driver has no code for a connection that the server, the network or a time limit ended.
const lost =
  /^(?:Connection terminated|Client has encountered a connection error|Client was closed|Query read timeout|timeout expired|Cannot use a pool after)/;

/** A commit of which it is not known whether it is durable. */
export const unsure = "08007";

export class StoreFault extends Error {
  readonly code: string;
  constructor(code: string, message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}

/** The code of what was thrown; "" for what neither the server nor the driver threw. */
export function sqlState(error: unknown): string {
  if (!(error instanceof Error)) return "";
  if (lost.test(error.message)) return "08006";
  // All of our own connections are in use: that says nothing of the server.
  if (error.message === "timeout exceeded when trying to connect") return "53300";
  return "code" in error ? String(error.code) : "";
}

/**
 * A connection holds a plan of a statement whose result a newer node has changed, by a column's type. Another connection,
 * or a new one, has none.
 */
export const isStale = (error: unknown) =>
  sqlState(error) === "0A000" && (error as { routine?: string }).routine === "RevalidateCachedQuery";

/** The same transaction may pass in a moment, here or on another server. */
export function isPassing(error: unknown): boolean {
  const code = sqlState(error);
  return isStale(error) || passing.has(code) || network.has(code) || code.startsWith("08");
}

/**
 * The server may be gone, or no longer the one that is written to. Not when it answers with 08…: a coordinator
 * speaks so of another server behind it, and a primary of its standby.
 */
export function isDoubtful(error: unknown): boolean {
  const code = sqlState(error);
  if (leaving.has(code) || network.has(code)) return true;
  return code.startsWith("08") && code !== unsure && !(error instanceof Error && "severity" in error);
}
