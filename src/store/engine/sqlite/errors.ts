// SQLite's errors by their primary result codes.

const [busy, corrupt, notADatabase] = [5, 11, 26];
/** The codes for a value that is not acceptable: too big, constraint, mismatch, range. */
const dataErrors = new Set([18, 19, 20, 25]);

/** Returns 0 for an error that SQLite did not throw. */
export const resultCode = (error: unknown) => (error instanceof Error && "errcode" in error ? Number(error.errcode) & 0xff : 0);

export const isSqliteError = (error: unknown) => error instanceof Error && "errcode" in error;

export const isDataError = (error: unknown) => dataErrors.has(resultCode(error));

export const isBusy = (error: unknown) => resultCode(error) === busy;

export const isDamaged = (error: unknown) => [corrupt, notADatabase].includes(resultCode(error));
