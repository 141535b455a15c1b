// Errors as PostgreSQL's server and its driver report them.

/** The server sent an error. */
export class ServerError extends Error {
  readonly code: string;
  readonly severity = "ERROR";
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

export const networkError = (code: string) => Object.assign(new Error(code), { code });

export const connectionEnded = () => new Error("Connection terminated unexpectedly");

/** An error of SQLite, which evaluates statements, as the server would report it. */
export function toServerError(error: unknown): unknown {
  const code = error instanceof Error && "errcode" in error ? Number(error.errcode) : 0;
  // SQLITE_CONSTRAINT_PRIMARYKEY and SQLITE_CONSTRAINT_UNIQUE.
  if (code === 1555 || code === 2067) return new ServerError("23505", (error as Error).message);
  if ((code & 0xff) === 19) return new ServerError("23502", (error as Error).message);
  return error;
}
