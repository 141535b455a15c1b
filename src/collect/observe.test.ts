import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { userAgentOf } from "./observe.ts";

setFlagsFromString("--expose-gc");
const gc = runInNewContext("gc") as () => void;
const parts = 2000;

test("a user agent that is remembered keeps 512 characters, and not the whole header in memory", () => {
  gc();
  const before = process.memoryUsage().heapUsed;
  const kept = Array.from({ length: parts }, (_, i) => userAgentOf({ "user-agent": `${i} `.padEnd(16_000, String(i)) }));
  gc();
  expect(new Set(kept.map(({ length }) => length))).toEqual(new Set([512]));
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(parts * 4000);
});

test("a missing user agent is none", () => expect(userAgentOf({})).toBe(""));
