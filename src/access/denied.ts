import type { ErrorCode } from "../contract/route.ts";

/** What a caller cannot put right by another value: they must wait, sign in, or ask somebody else. */
export class Denied extends Error {
  readonly code: Exclude<ErrorCode, "invalid" | "internal" | "insecure">;
  readonly retryAfterSeconds: number | undefined;

  constructor(code: Denied["code"], message: string, retryAfterSeconds?: number) {
    super(message);
    this.code = code;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}
