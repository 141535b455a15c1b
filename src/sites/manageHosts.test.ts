import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { freshFolder, migratedDatabase } from "../../test/support/databases.ts";
import { ulid } from "../kernel/ids.ts";
import { createDirectory, type Directory, type Site } from "./directory.ts";
import { Refusal } from "../kernel/refusal.ts";
import { dayMs } from "../kernel/time.ts";
import { addSite } from "./manage.ts";
import { addHost, findHost, pauseHost, removeHost, resumeHost } from "./manageHosts.ts";
import type { CheckRow } from "../store/sites/hosts.ts";
import { createStore, type Store } from "../store/store.ts";

const at = Date.UTC(2026, 10, 15);
const passedCheck: CheckRow = {
  verifiedAt: at,
  verifiedBy: "DNS",
  checkedAt: at,
  finding: null,
  seen: null,
  failingSince: null,
  nextCheckAt: at + dayMs,
};

describe.each(["sqlite", "postgres"] as const)("hosts on %s", (engine) => {
  let store: Store;
  let directory: Directory;
  /** The directory of another node. */
  let elsewhere: Directory;
  let north: Site;
  let south: Site;
  const by = (now = at) => ({ actor: "ada", now });
  const claim = (site: Site, host: string, now = at) =>
    addHost({ store, directory }, site, host, { ...by(now), isTrusted: false });
  const addTrusted = (site: Site, host: string) => addHost({ store, directory }, site, host, { ...by(), isTrusted: true });
  const ownerOf = (host: string) => directory.host(host)?.siteId;

  beforeAll(async () => {
    const location =
      engine === "sqlite"
        ? { engine, file: `${freshFolder()}/store.db` }
        : { engine, url: await migratedDatabase(), connections: 4 };
    store = await createStore(location, Buffer.alloc(32, 7), ulid);
    directory = createDirectory(store);
    elsewhere = createDirectory(store);
    north = await addSite({ store, directory }, "north.example", by());
    south = await addSite({ store, directory }, "south.example", by());
  });
  afterAll(() => store.close());

  test("a host is served at once when an installation owner adds it, and waits for its check otherwise", async () => {
    await addTrusted(north, "trusted.example");
    await claim(north, "claimed.example");
    await elsewhere.refresh();
    for (const one of [directory, elsewhere]) {
      expect(one.siteOfHost("trusted.example")?.id).toBe(north.id);
      expect(one.siteOfHost("claimed.example")).toBeUndefined();
      expect(one.host("claimed.example")?.siteId).toBe(north.id);
      expect(one.site(north.id)?.servedHosts).toEqual(["north.example", "trusted.example"]);
    }
  });

  test("a verified host is served by every node and has an audit line", async () => {
    const host = await claim(north, "checked.example");
    const line = { siteId: north.id, actor: "relay", action: "host verified", detail: {}, at };
    await store.hosts.saveCheck(host, passedCheck, line);
    await elsewhere.refresh();
    expect(elsewhere.siteOfHost("checked.example")?.id).toBe(north.id);
    expect(elsewhere.host("checked.example")).toMatchObject(passedCheck);
    const [last] = await store.audit.list(north.id, 1);
    expect(last?.action).toBe("host verified");
  });

  test("only an installation owner can add the relay's own host name", async () => {
    const own = createDirectory(store, "own.example");
    const served = () => own.refresh().then(() => own.siteOfHost("own.example")?.id);
    const host = await claim(north, "own.example");
    await store.hosts.saveCheck(host, passedCheck, null);
    expect(await served()).toBeUndefined();
    await removeHost({ store, directory }, host, by());
    await addTrusted(south, "own.example");
    expect(await served()).toBe(south.id);
    await removeHost({ store, directory }, findHost(directory.sites(), "own.example"), by());
  });

  test("a verified host whose check fails stays served", async () => {
    const host = await claim(north, "failing.example");
    await store.hosts.saveCheck(host, { ...passedCheck, finding: "too slow", failingSince: at }, null);
    await directory.refresh();
    expect(directory.siteOfHost("failing.example")?.id).toBe(north.id);
  });

  test("an installation owner can take over another site's unverified host at once, others after a week", async () => {
    await claim(north, "wanted.example");
    await expect(claim(south, "wanted.example", at + 6 * dayMs)).rejects.toThrow("belongs to a site already");
    await claim(south, "wanted.example", at + 8 * dayMs);
    expect(ownerOf("wanted.example")).toBe(south.id);
    await addTrusted(north, "wanted.example");
    expect(ownerOf("wanted.example")).toBe(north.id);
    await elsewhere.refresh();
    expect(elsewhere.siteOfHost("wanted.example")?.id).toBe(north.id);
    expect(elsewhere.site(south.id)?.hosts).toEqual(["south.example"]);
    const actions = (await store.audit.list(south.id, 5)).map(({ action }) => action);
    expect(actions[0]).toBe("host lost to another site");
    // A new site can take over such a host too.
    await claim(south, "begun.example");
    const third = await addSite({ store, directory }, "begun.example", by());
    expect(directory.siteOfHost("begun.example")?.id).toBe(third.id);
  });

  test("a verified host stays with its site, even if it is verified at the moment another site asks", async () => {
    const host = await claim(north, "verified.example");
    // This node has not read the result of the check yet.
    await store.hosts.saveCheck(host, passedCheck, null);
    await expect(addTrusted(south, "verified.example")).rejects.toThrow(Refusal);
    await expect(claim(south, "verified.example", at + 365 * dayMs)).rejects.toThrow(Refusal);
    expect(ownerOf("verified.example")).toBe(north.id);
  });

  test("a host is paused, resumed and removed; the last one is not removed, nor the last two at once", async () => {
    const context = { store, directory };
    const site = await addSite(context, "one.example", by());
    await addTrusted(site, "two.example");
    const host = (name: string) => findHost(directory.sites(), name);
    await pauseHost(context, host("one.example"), by());
    expect(directory.siteOfHost("one.example")).toBeUndefined();
    expect(directory.host("one.example")?.pausedAt).toBe(at);
    await resumeHost(context, host("one.example"), by());
    expect(directory.siteOfHost("one.example")?.id).toBe(site.id);

    const both = ["one.example", "two.example"].map((name) => removeHost(context, host(name), by()));
    const outcomes = await Promise.allSettled(both);
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    await elsewhere.refresh();
    expect(elsewhere.site(site.id)?.hosts).toHaveLength(1);
    const actions = (await store.audit.list(site.id, 9)).map(({ action }) => action);
    expect(actions.filter((one) => one === "host removed")).toHaveLength(1);
    expect(() => host("nowhere.example")).toThrow("There is no host nowhere.example.");
  });

  test("one node claims a check that is due", async () => {
    const host = await claim(north, "due.example");
    const taken = await Promise.all([1, 2, 3].map((n) => store.hosts.claimCheck(host, at + n)));
    expect(taken.filter(Boolean)).toHaveLength(1);
    expect(await store.hosts.claimCheck(host, at + 9)).toBe(false);
  });

  test("a check of a host that was removed meanwhile does not restore it", async () => {
    const host = await claim(north, "gone.example");
    await removeHost({ store, directory }, host, by());
    const line = { siteId: north.id, actor: "relay", action: "host verified", detail: { lost: 1 }, at };
    await store.hosts.saveCheck(host, passedCheck, line);
    await directory.refresh();
    expect(directory.host("gone.example")).toBeUndefined();
    const audit = await store.audit.list(north.id, 50);
    expect(audit.filter(({ detail }) => detail.lost === 1)).toEqual([]);
  });
});
