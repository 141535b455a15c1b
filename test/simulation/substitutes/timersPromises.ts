// node:timers/promises on the simulated process's timers.

import { setVirtualImmediate, setVirtualTimeout } from "../runtime/globals.ts";

type Options = { signal?: AbortSignal; ref?: boolean };

export function setTimeout<T>(ms: number, value?: T, { signal }: Options = {}): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(aborted());
    const timer = setVirtualTimeout(() => resolve(value as T), ms);
    signal?.addEventListener("abort", () => {
      timer.close();
      reject(aborted());
    });
  });
}

const aborted = () => Object.assign(new Error("The operation was aborted"), { name: "AbortError" });

export function setImmediate<T>(value?: T): Promise<T> {
  return new Promise((resolve) => void setVirtualImmediate(() => resolve(value as T)));
}
