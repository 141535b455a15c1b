import { expect, test } from "vitest";
import { serveInbound } from "../../test/support/inbound.ts";
import { tickMs } from "../kernel/coarseTimers.ts";

test.each([100, 1000, 3000])(
  "a store that never answers delays the sender no longer than %d ms, the answer's time limit",
  async (answerMs) => {
    const deadlines: number[] = [];
    const { lines, post } = await serveInbound({
      answerMs,
      relay(_received, _site, deadline) {
        deadlines.push(deadline - Date.now());
        return new Promise(() => {});
      },
    });
    expect((await post()).status).toBe(503);
    // A busy machine takes longer than the route's time limit. Without one, the answer would never come.
    expect(lines[0]?.ms).toBeLessThan(answerMs + 10_000);
    // The relay's own deadline ends a tick before, however late it ends, so that it can still report the event's state.
    expect(lines[0]?.ms).toBeGreaterThanOrEqual((deadlines[0] as number) + 2 * tickMs);
    expect(deadlines[0]).toBeLessThan(answerMs * 0.97);
  },
);

const broken = () => {
  throw new Error("defect");
};

test("a defect is answered in plain text, reported, and logged without a status", async () => {
  const { lines, defects, post } = await serveInbound({ countUse: broken });
  for (const path of ["/__cc/inbound", "/__cc/%69nbound"]) {
    const answer = await post(path);
    expect([answer.status, answer.headers["content-type"], answer.text]).toEqual([
      500,
      "text/plain; charset=utf-8",
      "Internal error.\n",
    ]);
  }
  expect(defects).toEqual([new Error("defect"), new Error("defect")]);
  expect(lines.map(({ status }) => status)).toEqual([undefined, undefined]);
});

test("a defect while a request is counted does not end the process", async () => {
  const rejectedRequests = { addDuplicate: () => {}, addRejected: broken };
  const { defects, get } = await serveInbound({ rejectedRequests });
  expect((await get()).status).toBe(500);
  expect(defects).toHaveLength(1);
});

test("a defect after the answer changes nothing for the sender", async () => {
  const { defects, post } = await serveInbound({ log: broken });
  expect((await post()).text).toBe('{"ok":true,"deduped":true}');
  expect(defects).toHaveLength(1);
});
