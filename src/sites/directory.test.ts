// Two nodes on one PostgreSQL that tell each other nothing: what one changes, the other knows within two seconds.

import { expect, onTestFinished, test } from "vitest";
import { openNodes } from "../../test/nodes.ts";
import { connect, pause } from "./connect.ts";
import { directoryOf, isUsable } from "./directory.ts";
import { addKey, addSite, revokeKey, setSite } from "./manage.ts";

const mostMs = 2000;

test("keys, sites, settings and connections follow a change on another node within two seconds", async () => {
  const { store, other, close } = await openNodes("postgres");
  const here = directoryOf(store);
  const there = directoryOf(other);
  await Promise.all([here.refresh(), there.refresh()]);
  const failures: unknown[] = [];
  const unfollow = there.follow((error) => failures.push(error));
  onTestFinished(async () => {
    unfollow();
    await close();
  });
  const desk = { store, directory: here };
  const by = { actor: "test", now: Date.now(), checkAddress: () => null };
  /** From the last change on. */
  async function isKnownSoon(what: string, isKnown: () => boolean): Promise<void> {
    const changedAt = performance.now();
    while (!isKnown()) {
      expect(performance.now() - changedAt, what).toBeLessThan(mostMs);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  const site = await addSite(desk, "shop.example.com", by);
  const { key } = await addKey(desk, site, { name: "CRM", mode: "live", expiresAt: null }, by);
  const siteNow = here.site(site.id) ?? expect.unreachable("it was made here");
  const { connection } = await connect(desk, siteNow, "sandbox", {}, by);
  await isKnownSoon(
    "a new site, key and connection",
    () =>
      there.siteOfHost("shop.example.com")?.id === site.id &&
      there.key(key)?.siteId === site.id &&
      there.connection(site.id, connection.id)?.state === "active",
  );

  const made = here.key(key) ?? expect.unreachable("it was made here");
  await pause(desk, connection, by);
  await setSite(desk, siteNow, { dedup_order: "30d" }, by);
  await revokeKey(desk, made, by);
  const endedThere = () => {
    const known = there.key(key);
    return known === undefined || !isUsable(known, Date.now());
  };
  await isKnownSoon(
    "a connection that is paused, a setting, a key that is revoked",
    () =>
      there.connection(site.id, connection.id)?.state === "paused" &&
      there.site(site.id)?.settings.dedupOrderMs === 30 * 86_400_000 &&
      endedThere(),
  );
  expect(failures).toEqual([]);
});
