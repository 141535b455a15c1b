// How the events of one request share the thread that accepts events with those of other sites.

import { expect, onTestFinished, test } from "vitest";
import { newEvent } from "../test/support/events.ts";
import { createNodes } from "../test/support/nodes.ts";
import { createRowOwnership } from "./delivery/ownership.ts";
import { threadShare } from "./kernel/concurrency.ts";
import { ulid } from "./kernel/ids.ts";
import { acceptBatch, relayBatch, type Received } from "./pipeline.ts";
import { createDirectory } from "./sites/directory.ts";
import { addSite } from "./sites/manage.ts";

test.each([
  ["of a batch", relayBatch],
  ["of a source", acceptBatch],
])("while other sites are active, few events %s are in the embedded store's hands at a time", async (_what, relayAll) => {
  const { store, close } = await createNodes("sqlite");
  onTestFinished(close);
  const directory = createDirectory(store);
  const { id } = await addSite({ store, directory }, "shop.example.com", { actor: "test", now: Date.now() });
  const site = directory.site(id) ?? expect.unreachable("it was made here");
  let held = 0;
  let most = 0;
  const counting: typeof store = {
    ...store,
    events: {
      ...store.events,
      accept: (item) => {
        most = Math.max(most, (held += 1));
        return store.events.accept(item).finally(() => (held -= 1));
      },
    },
  };
  const now = Date.now();
  const ownRows = createRowOwnership({ owner: "node-a", leaseMs: 60_000, now: () => now, elapsed: () => performance.now() });
  const batch = Array.from({ length: 100 }, (_, i): Received => {
    const { event } = newEvent(id, { id: ulid(now), receivedAt: now, orderId: `order ${i}` });
    return {
      event,
      reservedId: { id: event.id, own: (_site, _deliveries, at) => ownRows(at), release: () => {} },
      eventTime: null,
      emailDomain: null,
    };
  });
  const lanes = { send: () => expect.unreachable("the site has no connections"), withdraw: () => false };
  await threadShare.answer("another site", async () => {});
  const results = await relayAll(batch, site, now + 60_000, { store: counting, lanes: lanes as never, now: () => now });
  expect(new Set(results.map(({ status }) => status))).toEqual(new Set(["fulfilled"]));
  expect(most).toBeLessThanOrEqual(16);
});
