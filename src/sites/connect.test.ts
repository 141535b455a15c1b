import { expect, onTestFinished, test } from "vitest";
import { newSite } from "../../test/support/events.ts";
import { createNodes } from "../../test/support/nodes.ts";
import { changeConnection, connect, mayBeCut } from "./connect.ts";
import { createDirectory } from "./directory.ts";
import { findSite } from "./manage.ts";

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
