import { expect, onTestFinished, test } from "vitest";
import { newEvent, newSite } from "../../test/support/events.ts";
import { createNodes } from "../../test/support/nodes.ts";
import { changeConnection, connect, mayBeCut, resume } from "./connect.ts";
import { createDirectory } from "./directory.ts";
import { auditLine, findSite } from "./manage.ts";

const by = { actor: "test", now: Date.UTC(2026, 10, 15, 12), checkAddress: () => null };

test("the audit log has the value before a change whole: corrections are compared with it", async () => {
  const { store, close } = await createNodes("sqlite");
  onTestFinished(close);
  const directory = createDirectory(store);
  const context = { store, directory };
  const siteId = await newSite(store);
  await directory.refresh();
  const template = `{"event":"{{event}}","note":"${"n".repeat(1500)}"}`;
  const settings = { url: "https://hooks.example.com/in", template };
  const { connection } = await connect(context, findSite(context, siteId), "webhook", settings, by);
  const site = findSite(context, siteId);
  await changeConnection(context, site, connection, { settings: { template: `{"event":"{{event}}"}` } }, by);
  const [line] = await store.audit.list(siteId, 1);
  expect(line?.detail).toMatchObject({ before: { template } });
  expect([199, 200, 201, 2000].map((length) => mayBeCut("x".repeat(length)))).toEqual([false, true, false, true]);
});

test.each(["paused", "needs reconnection"] as const)(
  "what waited for a connection that was in the state %s is counted, although nodes release it, too",
  async (state) => {
    const { store, close } = await createNodes("sqlite");
    onTestFinished(close);
    const siteId = await newSite(store);
    // A node looks for parked deliveries while this process is busy with something else.
    const alerts = {
      ...store.alerts,
      async end(...given: Parameters<typeof store.alerts.end>) {
        await store.deliveries.releaseParked(siteId, given[1] ?? "", by.now);
        return store.alerts.end(...given);
      },
    };
    const context = { store: { ...store, alerts }, directory: createDirectory(store) };
    await context.directory.refresh();
    const settings = { url: "https://hooks.example.com/in" };
    const { connection } = await connect(context, findSite(context, siteId), "webhook", settings, by);
    const parked = { connectionId: connection.id, platform: "webhook", state: "parked", reason: null } as const;
    await store.events.accept(newEvent(siteId, {}, { deliveries: [parked] }));
    await store.configuration.setConnectionState(auditLine(siteId, "test", {}, by), connection.id, state, null);
    await context.directory.refresh();
    const site = findSite(context, siteId);
    const stopped = { ...connection, state };
    const released =
      state === "paused"
        ? await resume(context, stopped, by)
        : (await changeConnection(context, site, stopped, { settings }, by)).released;
    expect(released).toBe(1);
  },
);
