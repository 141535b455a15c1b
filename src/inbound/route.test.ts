import { ulid } from "../kernel/ids.ts";
import { expect, onTestFinished, test } from "vitest";
import { openNodes } from "../../test/support/nodes.ts";
import { call } from "../../test/support/relay.ts";
import { openRateLimit } from "../http/rate.ts";
import { openServer } from "../server/server.ts";
import { openDirectory } from "../sites/directory.ts";
import { addKey, addSite } from "../sites/manage.ts";
import { inboundRoute } from "./route.ts";
import { countWrongKeys } from "./wrongKeys.ts";

const answerMs = 1000;

test("a store that never answers delays the sender no longer than the answer's time limit", async () => {
  const { store, close } = await openNodes("sqlite");
  const directory = openDirectory(store);
  const by = { actor: "test", now: Date.now(), checkAddress: () => null };
  const site = await addSite({ store, directory }, "shop.example.com", by);
  const { key } = await addKey(
    { store, directory },
    site,
    { name: "CRM", mode: "live", expiresAt: null },
    by,
  );
  await directory.refresh();
  const app = openServer(null, () => {});
  onTestFinished(async () => {
    await app.close();
    await close();
  });
  const deadlines: number[] = [];
  inboundRoute(app, {
    authentication: {
      directory,
      ownHost: null,
      transport: { trusted: () => false, requireTls: false },
      wrongKeys: countWrongKeys(store),
      rateLimit: openRateLimit(),
    },
    relay(_received, _site, deadline) {
      deadlines.push(deadline - Date.now());
      return new Promise(() => {});
    },
    countUse: () => {},
    newId: ulid,
    answerMs,
    maxInFlight: 10,
    now: Date.now,
    rejectedRequests: { addDuplicate: () => {}, addRejected: () => {} },
    log: (line) => lines.push(line),
    onDefect: () => {},
  });
  const lines: Record<string, unknown>[] = [];
  const url = await app.listen({ host: "127.0.0.1", port: 0 });
  const headers = { "X-CC-Api-Key": key, "Content-Type": "application/json" };
  const body = JSON.stringify({ email: "ada@example.com", event: "lead" });
  const answer = await call(url, { path: "/__cc/inbound", headers, body });
  expect(answer.status).toBe(503);
  // A busy machine may take a little longer than the route's time limit.
  expect(lines[0]?.ms).toBeLessThan(answerMs + 150);
  // The relay's own deadline is earlier, so that it can still report the event's state.
  expect(deadlines[0]).toBeLessThan(answerMs * 0.97);
});
