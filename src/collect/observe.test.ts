import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { digestOfSubmit, userAgentOf } from "./observe.ts";
import { readPayload, type Payload } from "./payload.ts";

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

test("a submit is known again by the times of its typing, whatever email it has; one without typing by all of it", () => {
  const digest = (email: string, submit: unknown[]) => {
    const text = JSON.stringify({ emails: [email.repeat(64)], submit });
    return digestOfSubmit(readPayload(text, 0) as Payload, Buffer.from(text));
  };
  const typed = (gapMs: number) => [
    9123,
    24,
    false,
    [2, 92, 0, 0, 18, 85, gapMs, 12, 0, 0, false, false, 0, false, false, 66, 2],
  ];
  const filled = [9123, 1, false, [0, -1, 0, 0, 0, -1, -1, 0, 0, 10, false, false, 0, false, false, -1, 0]];
  expect(digest("b", typed(151))).toBe(digest("a", typed(151)));
  expect(digest("a", typed(152))).not.toBe(digest("a", typed(151)));
  expect(digest("b", filled)).not.toBe(digest("a", filled));
  expect(digest("a", filled)).toBe(digest("a", filled));
});
