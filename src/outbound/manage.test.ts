// The limit of a site's webhooks.

import { afterAll, expect, test } from "vitest";
import { createAt, newLocation } from "../../test/support/nodes.ts";
import { readAllowList, type AllowList } from "../delivery/addresses.ts";
import { createDirectory } from "../sites/directory.ts";
import { addSite } from "../sites/manage.ts";
import { addWebhook, disableWebhook, maxWebhooks, removeWebhook, rotateSecret } from "./manage.ts";

const store = await createAt(await newLocation("sqlite"));
afterAll(() => store.close());
const by = { actor: "test", now: Date.UTC(2026, 10, 15), allow: readAllowList("") as AllowList };

test("a site has at most fifty webhooks, disabled ones too, and a removed one makes room", async () => {
  const context = { store, directory: createDirectory(store) };
  const site = await addSite(context, "shop.example.com", by);
  const add = (i: number) => addWebhook(context, site, { url: `https://hook${i}.example.com/`, sendEmpty: true }, by);
  const { webhook: first } = await add(0);
  for (let i = 1; i < maxWebhooks; i += 1) await add(i);
  await disableWebhook(context, first, by);
  await expect(add(maxWebhooks)).rejects.toThrow("A site has at most 50 webhooks.");
  // The one that is there already is named.
  await expect(add(3)).rejects.toThrow("sends to this address already");
  await rotateSecret(context, first, by);
  const other = await addSite(context, "other.example.com", by);
  await addWebhook(context, other, { url: "https://hook0.example.com/", sendEmpty: true }, by);
  await removeWebhook(context, first, by);
  await add(maxWebhooks);
  expect(await store.webhooks.list(site.id)).toHaveLength(maxWebhooks);
});
