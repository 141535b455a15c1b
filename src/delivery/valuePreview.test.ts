import { afterAll, expect, test } from "vitest";
import { newEvent, newSite } from "../../test/support/events.ts";
import { createNodes } from "../../test/support/nodes.ts";
import { connectPlatform } from "../sites/connect.ts";
import { createDirectory, type Connection } from "../sites/directory.ts";
import { findSite } from "../sites/manage.ts";
import { previewValues } from "./valuePreview.ts";

const { store, close } = await createNodes("sqlite");
afterAll(close);

const now = Date.UTC(2026, 10, 15, 12);

async function setUp(settings: Record<string, string>, events?: string[]): Promise<Connection> {
  const directory = createDirectory(store);
  const siteId = await newSite(store);
  await directory.refresh();
  const site = findSite({ directory }, siteId);
  const by = { actor: "test", now, checkAddress: () => null };
  const wanted = { settings: { url: "https://hooks.example.com/in", ...settings }, events };
  return (await connectPlatform({ store, directory }, site, "webhook", wanted, by)).connection;
}

test("the preview sums up what the last hundred conversions would have been sent as", async () => {
  const connection = await setUp({ "value.purchase": "20%", "value.lead": "15 USD" }, ["purchase", "lead"]);
  const { siteId } = connection;
  const add = (order: number, fields: object) =>
    store.events.accept(
      newEvent(siteId, {
        orderId: `A-${order}`,
        name: "purchase",
        value: 206,
        currency: "EUR",
        receivedAt: now + order,
        ...fields,
      }),
    );
  for (let order = 0; order < 105; order++) await add(order, {});
  await add(200, { name: "lead", value: null, currency: "USD" });
  // Neither is sent by the connection, and a test counts nothing.
  await add(201, { name: "sign_up" });
  await add(202, { mode: "test" });
  const preview = await previewValues(store, connection);
  expect(preview).toMatchObject({ conversions: 100, changed: 100 });
  expect(preview.totals).toEqual([
    { currency: "USD", value: 0, sentValue: 15 },
    { currency: "EUR", value: 99 * 206, sentValue: 4078.8 },
  ]);
  expect(preview.examples).toHaveLength(10);
  expect(preview.examples[0]).toMatchObject({ name: "lead", value: null, sentValue: 15, sentCurrency: "USD", rule: "15 USD" });
  expect(preview.examples[1]).toMatchObject({ orderId: "A-104", value: 206, sentValue: 41.2, rule: "20%" });
});

test("without rules nothing changes, and a site without events has no totals", async () => {
  const connection = await setUp({});
  expect(await previewValues(store, connection)).toEqual({ conversions: 0, changed: 0, totals: [], examples: [] });
  await store.events.accept(newEvent(connection.siteId, { name: "purchase", value: 10, currency: "EUR", receivedAt: now }));
  expect(await previewValues(store, connection)).toMatchObject({
    conversions: 1,
    changed: 0,
    totals: [{ currency: "EUR", value: 10, sentValue: 10 }],
  });
});
