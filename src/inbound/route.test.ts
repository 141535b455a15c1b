import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { openNodes } from "../../test/support/nodes.ts";
import { call } from "../../test/support/relay.ts";
import { openRateLimit } from "../http/rate.ts";
import { tickMs } from "../kernel/coarseTimers.ts";
import { ulid } from "../kernel/ids.ts";
import { openServer } from "../server/server.ts";
import { openDirectory } from "../sites/directory.ts";
import { addKey, addSite } from "../sites/manage.ts";
import { inboundRoute, type InboundLine } from "./route.ts";
import { countWrongKeys } from "./wrongKeys.ts";

type InboundOptions = Parameters<typeof inboundRoute>[1];

let authentication: InboundOptions["authentication"];
let key: string;
let closeNodes: () => Promise<void>;

beforeAll(async () => {
  const { store, close } = await openNodes("sqlite");
  closeNodes = close;
  const directory = openDirectory(store);
  const by = { actor: "test", now: Date.now(), checkAddress: () => null };
  const site = await addSite({ store, directory }, "shop.example.com", by);
  const newKey = { name: "CRM", mode: "live", expiresAt: null } as const;
  ({ key } = await addKey({ store, directory }, site, newKey, by));
  await directory.refresh();
  authentication = {
    directory,
    ownHost: null,
    transport: { trusted: () => false, requireTls: false },
    wrongKeys: countWrongKeys(store),
    rateLimit: openRateLimit(),
  };
});
afterAll(() => closeNodes());

/** Serves the route until the test ends. `post` sends one event. */
async function serve(changes: Partial<InboundOptions>) {
  const lines: InboundLine[] = [];
  const defects: unknown[] = [];
  const app = openServer(null, () => {});
  inboundRoute(app, {
    authentication,
    relay: () => Promise.resolve({ exit: "duplicate" }),
    countUse: () => {},
    reserveId: (at) => ({ id: ulid(at), open: () => null, release: () => {} }),
    answerMs: 1000,
    maxInFlight: 10,
    now: Date.now,
    rejectedRequests: { addDuplicate: () => {}, addRejected: () => {} },
    log: (line) => lines.push(line),
    onDefect: (error) => defects.push(error),
    ...changes,
  });
  const url = await app.listen({ host: "127.0.0.1", port: 0 });
  onTestFinished(() => app.close());
  const headers = { "X-CC-Api-Key": key, "Content-Type": "application/json" };
  const body = JSON.stringify({ email: "ada@example.com", event: "lead" });
  const post = (path = "/__cc/inbound") => call(url, { path, headers, body });
  return { lines, defects, post, get: () => call(url, { method: "GET" }) };
}

test.each([100, 1000, 3000])(
  "a store that never answers delays the sender no longer than %d ms, the answer's time limit",
  async (answerMs) => {
    const deadlines: number[] = [];
    const { lines, post } = await serve({
      answerMs,
      relay(_received, _site, deadline) {
        deadlines.push(deadline - Date.now());
        return new Promise(() => {});
      },
    });
    expect((await post()).status).toBe(503);
    // A busy machine may take a little longer than the route's time limit.
    expect(lines[0]?.ms).toBeLessThan(answerMs + 150);
    // The relay's own deadline ends a tick before, however late it ends, so that it can still report the event's state.
    expect(lines[0]?.ms).toBeGreaterThanOrEqual((deadlines[0] as number) + 2 * tickMs);
    expect(deadlines[0]).toBeLessThan(answerMs * 0.97);
  },
);

const broken = () => {
  throw new Error("defect");
};

test("a defect is answered in plain text, reported, and logged without a status", async () => {
  const { lines, defects, post } = await serve({ countUse: broken });
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
  const { defects, get } = await serve({ rejectedRequests });
  expect((await get()).status).toBe(500);
  expect(defects).toHaveLength(1);
});

test("a defect after the answer changes nothing for the sender", async () => {
  const { defects, post } = await serve({ log: broken });
  expect((await post()).text).toBe('{"ok":true,"deduped":true}');
  expect(defects).toHaveLength(1);
});
