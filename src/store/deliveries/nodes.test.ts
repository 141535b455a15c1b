// The rows of nodes on a server that was promoted: what was known of events on the former primary must not be written there.

import { expect, inject, onTestFinished, test } from "vitest";
import { migratedDatabase } from "../../../test/support/databases.ts";
import { byNode, newEvent } from "../../../test/support/events.ts";
import { newLocation, createAt, sql } from "../../../test/support/nodes.ts";
import { simulateTimeline } from "../../../test/support/postgres/timeline.ts";
import { hourMs } from "../../kernel/time.ts";
import { MarkOutdated } from "./nodes.ts";

test.skipIf(inject("inSchemas"))(
  "after a promotion, a node's mark and row stay as the promoted server has them until the node has seen it",
  async () => {
    const location = await newLocation("postgres", migratedDatabase);
    if (location.engine !== "postgres") expect.unreachable();
    const { promote } = await simulateTimeline(location.url);
    const { nodes, close } = await createAt(location);
    onTestFinished(close);
    await nodes.renew("node", "1", 60_000, 0);
    await nodes.renew("dead", "1", -60_000, 0);
    const [dead] = await nodes.listExpired();
    if (!dead) return expect.unreachable("its lease has not ended");
    await promote();
    // The connections have lived through it: only the transaction itself can find out.
    const outdated = await Promise.allSettled([
      nodes.renew("node", "2", 60_000, 0),
      nodes.remove("node", 0),
      nodes.removeExpired(dead.node, 0),
    ]);
    for (const one of outdated) expect(one).toMatchObject({ reason: expect.any(MarkOutdated) });
    expect([nodes.promotions(), await nodes.readMark("node"), await nodes.readMark("dead")]).toEqual([1, "1", "1"]);
    await nodes.renew("node", "2", 60_000, 1);
    await nodes.removeExpired(dead.node, 1);
    expect([await nodes.readMark("node"), await nodes.readMark("dead")]).toEqual(["2", null]);
    expect(await sql(location, "SELECT owner FROM nodes")).toEqual([{ owner: "node" }]);
  },
);

test.skipIf(inject("inSchemas"))(
  "a node that accepts events on a promoted server which lost its row writes the row with them",
  async () => {
    const location = await newLocation("postgres", migratedDatabase);
    if (location.engine !== "postgres") expect.unreachable();
    const { promote } = await simulateTimeline(location.url);
    const { nodes, events, close } = await createAt(location);
    onTestFinished(close);
    await nodes.renew("node", "1", 60_000, 0);
    await nodes.renew("node", "2", 60_000, 0);
    await sql(location, "DELETE FROM nodes");
    await promote();
    // The node learns of the promotion, and has not yet written its row when it accepts.
    await expect(nodes.renew("node", "3", 60_000, 0)).rejects.toThrow(MarkOutdated);
    const accept = (siteId: string) => events.accept(newEvent(siteId, {}, { ownership: byNode("node") }));
    await Promise.all([accept("a"), accept("b")]);
    // Nothing is known of what the server has above the first mark.
    expect(await nodes.readMark("node")).toBe("1");
    await nodes.renew("node", "3", 60_000, 1);
    await accept("a");
    expect(await nodes.readMark("node")).toBe("3");
  },
);

test.skipIf(inject("inSchemas"))(
  "a node that has just started writes its row with its events, in case a failover that it cannot see lost the row",
  async () => {
    const location = await newLocation("postgres", migratedDatabase);
    const { nodes, events, close } = await createAt(location);
    onTestFinished(close);
    await nodes.renew("node", "1", 60_000);
    // What is left behind a pooler that has changed to another server: open connections, and no row.
    await sql(location, "DELETE FROM nodes");
    await events.accept(newEvent("a", {}, { ownership: byNode("node") }));
    expect(await nodes.readMark("node")).toBe("1");
  },
);

test("living nodes are counted by the clock that wrote their leases, whatever the time of the node that counts", async () => {
  const { nodes, slices, close } = await createAt(await newLocation("postgres", migratedDatabase));
  onTestFinished(close);
  await nodes.renew("alive", "0", 60_000);
  await nodes.renew("dead", "0", -60_000);
  const counts = [-hourMs, 0, hourMs].map(
    async (ms) => (await slices.readHolders(Date.now() + ms, Date.now() + ms + 60_000)).nodes,
  );
  expect(await Promise.all(counts)).toEqual([1, 1, 1]);
});
