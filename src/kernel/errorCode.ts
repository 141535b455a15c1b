/** The code of an error of Node, the operating system or a driver, such as ENOENT; empty when it has none. */
export const errorCode = (error: unknown): string => (error instanceof Error && "code" in error ? String(error.code) : "");
