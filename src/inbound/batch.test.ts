// What a batch does when events of it fail, with a relay that the test controls.

import { expect, test } from "vitest";
import { createLoad } from "./load.ts";
import { serveInbound } from "../../test/support/inbound.ts";
import type { Exit } from "../pipeline.ts";

const event = (changes: Record<string, unknown> = {}) => ({
  email: "ada@example.com",
  event: "lead",
  ...changes,
});
const fulfilled = (value: Exit) => ({ status: "fulfilled", value }) as const;
const dispatched: Exit = { exit: "dispatched", results: {} };
const answered = { ok: true, event: "lead", results: {} };

test("every event has its line in the log, its use of the key, and its place among the rejected requests", async () => {
  const uses: unknown[] = [];
  const rejected: number[] = [];
  const { lines, postBatch } = await serveInbound({
    relayBatch: async (batch) => batch.map(() => fulfilled(dispatched)),
    countUse: (admitted) => uses.push(admitted.key.id),
    rejectedRequests: {
      addDuplicate: () => {},
      addRejected: (_request, { status }) => rejected.push(status),
    },
  });
  await postBatch([event(), {}, event({ event: "signup" })]);
  expect(lines.map(({ name, status, reason, exit }) => [name, status, reason, exit])).toEqual([
    ["lead", 200, undefined, "dispatched"],
    [undefined, 400, "field", undefined],
    ["signup", 200, undefined, "dispatched"],
  ]);
  expect(lines.every(({ site, key }) => site && key)).toBe(true);
  expect(uses).toHaveLength(3);
  expect(rejected).toEqual([400]);
});

test("an event that the store does not take is to be repeated, and the others are accepted", async () => {
  const full = new Error("disk full");
  const { lines, defects, postBatch } = await serveInbound({
    relayBatch: async () => [fulfilled(dispatched), { status: "rejected", reason: full }, { status: "rejected", reason: full }],
  });
  const answer = await postBatch([event(), event(), event()]);
  const refused = { ok: false, error: "Temporarily unavailable, retry", status: 503 };
  expect(JSON.parse(answer.text)).toEqual({ ok: true, results: [answered, refused, refused] });
  expect([answer.status, answer.headers["retry-after"]]).toEqual([200, "5"]);
  expect(lines.map(({ exit, error }) => [exit, error])).toEqual([
    ["dispatched", undefined],
    ["unavailable", full],
    ["unavailable", full],
  ]);
  // One failed commit is one defect.
  expect(defects).toEqual([full]);
});

test.each<[string, () => Promise<never>]>([
  ["fails", () => Promise.reject(new Error("disk full"))],
  ["never answers", () => new Promise<never>(() => {})],
])("when the store %s, the whole batch is to be repeated", async (_what, relayBatch) => {
  const { lines, postBatch } = await serveInbound({ answerMs: 300, relayBatch });
  const answer = await postBatch([event(), {}, event()]);
  expect([answer.status, answer.text]).toEqual([503, '{"ok":false,"error":"Temporarily unavailable, retry"}']);
  expect(answer.headers["retry-after"]).toBe("5");
  expect(lines.map(({ status }) => status)).toEqual([503, 400, 503]);
});

test("a batch of invalid events alone is answered event by event, because repeating it would not help", async () => {
  const { postBatch } = await serveInbound({ relayBatch: async () => [] });
  const answer = await postBatch([{}, {}]);
  const refused = { ok: false, error: "email or hashed_email required", status: 400 };
  expect([answer.status, JSON.parse(answer.text)]).toEqual([200, { ok: true, results: [refused, refused] }]);
});

test("a batch loads the relay as much as its events do, and is refused when others fill it", async () => {
  const batches: (() => void)[] = [];
  const { post, postBatch } = await serveInbound({
    load: createLoad(80),
    relayBatch: (batch) => new Promise((resolve) => batches.push(() => resolve(batch.map(() => fulfilled(dispatched))))),
  });
  const list = Array.from({ length: 10 }, (_, i) => event({ orderId: `order ${i}` }));
  const answers = Array.from({ length: 4 }, () => postBatch(list));
  await expect.poll(() => batches).toHaveLength(4);
  expect((await post()).status).toBe(503);
  expect((await postBatch([event()])).text).toContain("Overloaded, retry");
  for (const answer of batches) answer();
  for (const { status } of await Promise.all(answers)) expect(status).toBe(200);
  expect((await post()).status).toBe(200);
});
