import { EventEmitter } from "node:events";
import { expect, onTestFinished, test, vi } from "vitest";
import { createShutdown } from "./shutdown.ts";
import { waitForStopSignal } from "./stopSignal.ts";

test("the members of a phase stop in parallel, and those that hang or fail are reported and not waited for", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const ended: string[] = [];
  const late: string[] = [];
  const shutdown = createShutdown({
    timeoutMs: 1500,
    onLate: (error, { stopping }) => late.push(`${stopping}: ${(error as Error).message}`),
  });
  const stopSlowly = (name: string) => async () => {
    await new Promise((resolve) => setTimeout(resolve, 60));
    ended.push(name);
  };
  shutdown.add("counters", "function", stopSlowly("function"));
  shutdown.add("counters", "object", { stop: stopSlowly("object") });
  shutdown.add("counters", "client", { close: stopSlowly("client") });
  shutdown.add("counters", "hanging", () => new Promise(() => {}));
  shutdown.add("counters", "hanging too", () => new Promise(() => {}));
  shutdown.add("counters", "failing", () => Promise.reject(new Error("no such table")));
  shutdown.add("counters", "throwing", () => {
    throw new Error("no such file");
  });
  shutdown.add("counters", "not async", () => undefined);
  const stopped = shutdown.run(0);
  await vi.advanceTimersByTimeAsync(60);
  expect(ended).toEqual(["function", "object", "client"]);
  expect(late.toSorted()).toEqual(["failing: no such table", "throwing: no such file"]);
  await vi.advanceTimersByTimeAsync(1440);
  await stopped;
  expect(late.slice(2)).toEqual(["hanging: did not stop in time", "hanging too: did not stop in time"]);
});

test("phases stop in order, background work stops in parallel, and the store waits for it", async () => {
  const order: string[] = [];
  const late: string[] = [];
  const shutdown = createShutdown({
    timeoutMs: 10_000,
    onLate: (_error, { stopping }) => late.push(stopping),
  });
  const after = (ms: number, name: string) => async () => {
    order.push(`${name} begins`);
    await new Promise((resolve) => setTimeout(resolve, ms));
    order.push(`${name} ends`);
  };
  shutdown.add("database", "store", after(1, "store"));
  shutdown.add("requests", "requests", after(20, "requests"));
  shutdown.add("background", "alerts", after(1000, "alerts"));
  shutdown.add("drain", "readiness", () => order.push("not ready"));
  await shutdown.run(40);
  expect(order).toEqual([
    "not ready",
    "alerts begins",
    "requests begins",
    "requests ends",
    "alerts ends",
    "store begins",
    "store ends",
  ]);
  expect(late).toEqual([]);
});

test("the first signal asks for a shutdown, and only a Ctrl-C at least a second later forces it", async () => {
  const signals = new EventEmitter() as EventEmitter & Pick<NodeJS.Process, "on">;
  let now = 5000;
  let forced = 0;
  const asked = waitForStopSignal(
    signals,
    () => now,
    () => (forced += 1),
  );
  signals.emit("SIGINT", "SIGINT");
  expect(await asked).toBe("SIGINT");
  // npm forwards the signal that the terminal has sent to both.
  now += 5;
  signals.emit("SIGINT", "SIGINT");
  // A supervisor that repeats SIGTERM has its own time limit.
  now += 20_000;
  signals.emit("SIGTERM", "SIGTERM");
  expect(forced).toBe(0);
  signals.emit("SIGINT", "SIGINT");
  expect(forced).toBe(1);
});
