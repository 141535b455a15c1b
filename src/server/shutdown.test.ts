import { expect, onTestFinished, test, vi } from "vitest";
import { stopRelay, stopTogether } from "./shutdown.ts";

test("parts stop side by side, and those that hang or fail are named and not waited for", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const ended: string[] = [];
  const late: string[] = [];
  const slowly = async (name: string) => {
    await new Promise((resolve) => setTimeout(resolve, 60));
    ended.push(name);
  };
  const stopped = stopTogether(
    150,
    () => ({
      first: slowly("first"),
      second: slowly("second"),
      third: slowly("third"),
      hanging: new Promise(() => {}),
      hangingToo: new Promise(() => {}),
      failing: Promise.reject(new Error("no such table")),
      missing: undefined,
    }),
    (error, { stopping }) => late.push(`${stopping}: ${(error as Error).message}`),
  );
  await vi.advanceTimersByTimeAsync(60);
  expect(ended).toEqual(["first", "second", "third"]);
  expect(late).toEqual(["failing: no such table"]);
  await vi.advanceTimersByTimeAsync(90);
  await stopped;
  expect(late.slice(1)).toEqual(["hanging: did not stop in time", "hangingToo: did not stop in time"]);
});

test("steps go one after the other, the background beside them; the store waits for it, and all of it has an end", async () => {
  const order: string[] = [];
  const after = async (ms: number, name: string) => {
    order.push(`${name} begins`);
    await new Promise((resolve) => setTimeout(resolve, ms));
    order.push(`${name} ends`);
  };
  const late: string[] = [];
  await stopRelay({
    drainMs: 40,
    timeoutMs: 400,
    leave: () => order.push("leave"),
    background: () => ({ alerts: after(150, "alerts") }),
    steps: [() => ({ requests: after(20, "requests") })],
    last: [() => ({ store: after(1, "store") })],
    onLate: (_error, { stopping }) => late.push(stopping),
  });
  expect(order).toEqual([
    "leave",
    "alerts begins",
    "requests begins",
    "requests ends",
    "alerts ends",
    "store begins",
    "store ends",
  ]);
  expect(late).toEqual([]);
});
