// What is known of a sender of webhooks, as one row: how it signs, what it takes as success, when it repeats a request, and how it
// punishes an endpoint that fails. Written from the senders' own documents. Where a document gives no numbers, the row says so.

export type ToSign = {
  method: string;
  /** The address as the sender calls it. */
  url: string;
  body: Buffer;
  /** Two during a rotation, the newer one first. */
  secrets: readonly string[];
  /** The sender's clock, in milliseconds. */
  at: number;
};

export type Sheet = {
  id: string;
  /** The kind of source that takes its requests. */
  kind: string;
  contentType: string;
  /** Returns the headers that prove the sender; absent where nothing does. */
  sign?: (request: ToSign) => Record<string, string>;
  /** The signature covers the time. */
  signsTime?: true;
  /** Signs with all secrets at once while one replaces another. */
  rotates?: true;
  success: (status: number, text: string) => boolean;
  timeout: { connectMs?: number; totalMs: number };
  retries: {
    delaysMs: readonly number[];
    /** Null is a connection that broke or took too long. */
    on: (status: number | null) => boolean;
  };
  /** Other delays for some statuses. */
  slowRetries?: { on: (status: number | null) => boolean; delaysMs: readonly number[] };
  /** Reads Retry-After in this unit, and waits at least so long. */
  retryAfter?: "milliseconds";
  /** After so many first tries that failed, nothing is sent for a time, and what happens meanwhile is lost. */
  ban?: { firstTryFailures: number; ms: number };
  /** Ends the subscription for good. */
  off?: { statuses?: readonly number[]; failuresInARow?: number; msWithoutSuccess?: number };
  http?: "1.0";
};

export const secondMs = 1000;
export const minuteMs = 60 * secondMs;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

export const any2xx = (status: number) => status >= 200 && status < 300;
export const exactly200 = (status: number) => status === 200;
export const always = () => true;
export const never = () => false;

/** Delays that double from the first up to the largest, for so long in all. */
export function backOff(firstMs: number, largestMs: number, inAllMs: number): number[] {
  const delays: number[] = [];
  for (let next = firstMs, sum = 0; sum + next <= inAllMs; sum += next, next = Math.min(next * 2, largestMs)) delays.push(next);
  return delays;
}

export const times = (count: number, delayMs: number): number[] => Array.from({ length: count }, () => delayMs);
