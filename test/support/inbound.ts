// Serves the inbound endpoint alone, in this process, with a relay that the test controls.

import { onTestFinished } from "vitest";
import { createRateLimit } from "../../src/http/rate.ts";
import { createLoad } from "../../src/inbound/load.ts";
import { inboundRoute } from "../../src/inbound/route.ts";
import type { InboundLine, InboundOptions } from "../../src/inbound/event.ts";
import { countWrongKeys } from "../../src/inbound/wrongKeys.ts";
import { ulid } from "../../src/kernel/ids.ts";
import { createHttpServer } from "../../src/server/server.ts";
import { createDirectory } from "../../src/sites/directory.ts";
import { addKey, addSite } from "../../src/sites/manage.ts";
import { afterFile } from "./afterFile.ts";
import { createNodes } from "./nodes.ts";
import { reserveForWorkers } from "../../src/delivery/ownership.ts";
import { call } from "./relay.ts";

/** Makes a site with a key, of which all tests of a file share one. */
async function open() {
  const { store, close } = await createNodes("sqlite");
  const directory = createDirectory(store);
  const by = { actor: "test", now: Date.now(), checkAddress: () => null };
  const site = await addSite({ store, directory }, "shop.example.com", by);
  const newKey = { name: "CRM", mode: "live", expiresAt: null } as const;
  const { key } = await addKey({ store, directory }, site, newKey, by);
  await directory.refresh();
  const authentication = {
    directory,
    ownHost: null,
    transport: { trusted: () => false, requireTls: false },
    wrongKeys: countWrongKeys(store),
    rateLimit: createRateLimit(),
  };
  return { authentication, key, close };
}

let opened: ReturnType<typeof open> | null = null;
afterFile(async () => {
  const last = opened;
  opened = null;
  await (await last)?.close();
});

/** Serves until the test ends. `post` sends one event. */
export async function serveInbound(changes: Partial<InboundOptions>) {
  const { authentication, key } = await (opened ??= open());
  const lines: InboundLine[] = [];
  const defects: unknown[] = [];
  const app = createHttpServer(null, () => {});
  inboundRoute(app, {
    authentication,
    relay: () => Promise.resolve({ exit: "duplicate", findFirst: () => Promise.resolve(null) }),
    relayBatch: () => Promise.resolve([]),
    countUse: () => {},
    reserveId: (at) => reserveForWorkers(ulid(at)),
    answerMs: 1000,
    load: createLoad(10),
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
  return {
    lines,
    defects,
    post: (path = "/__cc/inbound") => call(url, { path, headers, body }),
    postBatch: (events: unknown) => call(url, { path: "/__cc/inbound/batch", headers, body: JSON.stringify({ events }) }),
    get: () => call(url, { method: "GET" }),
  };
}
