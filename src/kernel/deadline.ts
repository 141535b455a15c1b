import { clearCoarseTimeout, setCoarseTimeout } from "./coarseTimers.ts";

/** Lets waiting requests and timers run: long loops call it between two steps. */
export { setImmediate as yieldToEventLoop } from "node:timers/promises";

/** The store did not answer in time; it may answer a moment later. */
export class Late extends Error {}

/** Resolves with the result of `work`, or fails after `ms`. The work itself goes on, and its result is dropped. */
export function within<T>(
  ms: number,
  work: Promise<T>,
  failure: string,
  Failure: new (message: string) => Error = Error,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const timeout = setCoarseTimeout(ms, () => reject(new Failure(failure)));
    work.then(
      (result) => {
        clearCoarseTimeout(timeout);
        resolve(result);
      },
      (error: unknown) => {
        clearCoarseTimeout(timeout);
        reject(error);
      },
    );
  });
}
