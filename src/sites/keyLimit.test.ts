// The limit of a site's inbound keys. Keys that have ended stay listed, and do not count.

import { afterAll, expect, test } from "vitest";
import { createAt, newLocation } from "../../test/support/nodes.ts";
import { shortId } from "../kernel/ids.ts";
import { dayMs } from "../kernel/time.ts";
import { createDirectory, isUsable } from "./directory.ts";
import { hashKey } from "./keys.ts";
import { addKey, addSite, auditLine, findKey, findSite, maxKeys, revokeKey, rotateKey } from "./manage.ts";

const store = await createAt(await newLocation("sqlite"));
afterAll(() => store.close());
const context = { store, directory: createDirectory(store) };
const now = Date.UTC(2026, 10, 15);
const by = (at = now) => ({ actor: "test", now: at });

/** Adds keys without reading the configuration after each. */
async function addMany(siteId: string, count: number, expiresAt: number | null = null): Promise<void> {
  for (let i = 0; i < count; i += 1) {
    const key = { siteId, id: shortId(), hash: hashKey(shortId()), name: "CRM", mode: "live", prefix: "cc_", expiresAt } as const;
    const row = { ...key, createdAt: now, revokedAt: null, apiKeyId: null };
    await store.configuration.addKey(auditLine(siteId, "key added", {}, by()), row, {});
  }
  await context.directory.refresh();
}

test("a site has at most 500 valid keys; one that is revoked or has expired makes room", async () => {
  const { id: siteId } = await addSite(context, "shop.example.com", by());
  const site = () => findSite(context, siteId);
  const add = (at = now) => addKey(context, site(), { name: "CRM", mode: "live", expiresAt: null }, by(at));
  const valid = (at: number) => site().keys.filter((key) => isUsable(key, at));
  const tooMany = "A site has at most 500 valid keys. Revoke one that is no longer used.";

  await addMany(siteId, 1, now + dayMs);
  await addMany(siteId, maxKeys - 1);
  await expect(add()).rejects.toThrow(tooMany);
  const [some] = valid(now + dayMs);
  await revokeKey(context, some ?? expect.unreachable("there are 499"), by());
  await add();
  await expect(add()).rejects.toThrow(tooMany);
  // The first one has expired.
  const later = now + dayMs;
  await add(later);
  expect(valid(later)).toHaveLength(maxKeys);
  expect(site().keys.length).toBeGreaterThan(maxKeys);

  // A rotated key stays valid for a day beside the one that replaces it.
  const [old] = valid(later);
  await rotateKey(context, old ?? expect.unreachable("there are 500"), null, by(later));
  expect(valid(later)).toHaveLength(maxKeys + 1);
  expect(valid(later + dayMs)).toHaveLength(maxKeys);
  await expect(add(later)).rejects.toThrow(tooMany);
});

test("a key that is rotated again and again makes no more than every key once would", async () => {
  const { id: siteId } = await addSite(context, "other.example.com", by());
  const site = () => findSite(context, siteId);
  const { id } = await addKey(context, site(), { name: "CRM", mode: "live", expiresAt: null }, by());
  await addMany(siteId, 2 * maxKeys - 2);
  const rotate = () => rotateKey(context, findKey([site()], id), null, by());
  await rotate();
  await expect(rotate()).rejects.toThrow("A site has at most 1000 valid keys.");
});
