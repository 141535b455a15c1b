// Hosts are checked in the background: with a real store and a real DNS server; only the clock is simulated.

import { afterAll, beforeAll, expect, test } from "vitest";
import { freshFolder } from "../../test/support/databases.ts";
import { startDns, type Records } from "../../test/support/servers/dnsServer.ts";
import { checkSite, newCheckMemory } from "../alerts/conditions.ts";
import { ulid } from "../kernel/ids.ts";
import { createDirectory, type Directory, type Site } from "../sites/directory.ts";
import { stateOf } from "../sites/hosts.ts";
import { Refusal } from "../kernel/refusal.ts";
import { addSite } from "../sites/manage.ts";
import { addHost, findHost, pauseHost, resumeHost } from "../sites/manageHosts.ts";
import { createStore, type Store } from "../store/store.ts";
import type { Checker } from "./check.ts";
import { createChecker } from "./checker.ts";
import { verifyHost } from "./verify.ts";
import { checkDueHosts } from "./hostMonitor.ts";
import { english } from "../kernel/messages/message.ts";

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const began = Date.UTC(2026, 10, 15);
let now = began;

const records: Records = { "cc.relay.test": { address: "127.0.0.1" } };
const here = { alias: "cc.relay.test" } as const;
let dns: Awaited<ReturnType<typeof startDns>>;
let store: Store;
let directory: Directory;
let checker: Checker;
let site: Site;
const defects: unknown[] = [];

/** A node with a directory of its own. */
function node() {
  const own = createDirectory(store);
  const onDefect = (error: unknown) => void defects.push(error);
  const options = { store, directory: own, checker, now: () => now, onDefect };
  return { check: () => own.refresh().then(() => checkDueHosts(options)) };
}
const host = (name: string) => findHost(directory.sites(), name);
async function checkAll(): Promise<void> {
  await Promise.all([node().check(), node().check()]);
  await directory.refresh();
}
async function later(ms: number): Promise<void> {
  now += ms;
  await checkAll();
}
const alerts = async () => {
  const current = directory.site(site.id) ?? expect.unreachable();
  const found = await checkSite({ facts: store, site: current, memory: newCheckMemory(), now }, []);
  return found.filter(({ kind }) => kind === "host").map((one) => ({ ...one, text: english(one.text) }));
};
const claim = (name: string) => addHost({ store, directory }, site, name, { actor: "ada", now, isTrusted: false });

beforeAll(async () => {
  dns = await startDns(records);
  store = await createStore({ engine: "sqlite", file: `${freshFolder()}/store.db` }, Buffer.alloc(32, 7), ulid);
  directory = createDirectory(store);
  checker = createChecker({
    encryptionKeys: () => [Buffer.alloc(32, 7)],
    // No host may be called here: DNS records alone verify it.
    allowPrivate: { hosts: new Set(), networks: [] },
    dnsServers: [dns.address],
    connectMs: 60_000,
    attemptMs: 60_000,
    publicUrl: "https://cc.relay.test",
    hasUrl: true,
  });
  site = await addSite({ store, directory }, "localhost", { actor: "ada", now });
});
afterAll(async () => {
  await checker.sender.close();
  await store.close();
  dns.close();
  expect(defects).toEqual([]);
});

test("a waiting host is served soon after its DNS record exists, and only one node writes the audit line", async () => {
  await claim("new.shop.test");
  await checkAll();
  expect(host("new.shop.test")).toMatchObject({ finding: "not found", checkedAt: began });
  records["new.shop.test"] = here;
  await later(9 * minute);
  expect(directory.siteOfHost("new.shop.test")).toBeUndefined();
  await later(2 * minute);
  expect(directory.siteOfHost("new.shop.test")?.id).toBe(site.id);
  const audit = await store.audit.list(site.id, 50);
  expect(audit.filter(({ action }) => action === "host verified")).toHaveLength(1);
  // A loopback name is never checked.
  expect(host("localhost").checkedAt).toBeNull();
});

test("an internal name is never checked, and no site can claim one", async () => {
  const asked = verifyHost({ store, directory, checker }, host("localhost"), { actor: "ada", now }, () => now);
  await expect(asked).rejects.toThrow("localhost is a name inside a network, and is not checked.");
  for (const name of ["intranet", "shop.localhost"]) await expect(claim(name)).rejects.toThrow(Refusal);
});

test("a host that never points here is checked less and less often", async () => {
  await claim("never.shop.test");
  const checks = new Set<number>();
  for (const step of [0, 11 * minute, 11 * minute, day, 10 * minute, hour, 8 * day, hour, day]) {
    await later(step);
    checks.add(host("never.shop.test").checkedAt ?? 0);
  }
  expect(checks.size).toBe(7);
  expect(stateOf(host("never.shop.test"))).toBe("waiting");
});

test("a host that fails stays served, and raises an alert after an hour", async () => {
  await later(2 * day);
  const { checkedAt } = host("new.shop.test");
  expect(checkedAt).toBe(now);
  // The check found only that the address is private, as all are in this test: the host itself works.
  await store.hosts.saveCheck(
    host("new.shop.test"),
    { ...host("new.shop.test"), finding: null, failingSince: null, nextCheckAt: now + day },
    null,
  );
  delete records["new.shop.test"];
  await later(23 * hour);
  expect(host("new.shop.test").checkedAt).toBe(checkedAt);
  await later(2 * hour);
  expect(stateOf(host("new.shop.test"))).toBe("failing");
  expect(directory.siteOfHost("new.shop.test")?.id).toBe(site.id);
  expect(await alerts()).toEqual([]);
  await later(61 * minute);
  expect(await alerts()).toEqual([
    {
      kind: "host",
      subject: "new.shop.test",
      text: expect.stringMatching(/^new\.shop\.test is not in the DNS\. Since 2026-/),
    },
  ]);
  await pauseHost({ store, directory }, host("new.shop.test"), { actor: "ada", now });
  expect(await alerts()).toEqual([]);
  await resumeHost({ store, directory }, host("new.shop.test"), { actor: "ada", now });
});

test("a failed DNS lookup does not change the state of a host that worked", async () => {
  records["new.shop.test"] = here;
  await later(2 * hour);
  const before = host("new.shop.test");
  expect(before.finding).toBe("private address");
  records["new.shop.test"] = "broken";
  await later(2 * hour);
  const after = host("new.shop.test");
  expect(after).toMatchObject({ finding: before.finding, verifiedAt: before.verifiedAt, checkedAt: now });
});

test("a paused host is not checked", async () => {
  await pauseHost({ store, directory }, host("new.shop.test"), { actor: "ada", now });
  await later(3 * day);
  expect(host("new.shop.test").checkedAt).toBeLessThan(now - 2 * day);
});

test("of many due hosts a run checks a hundred, those first that were never checked", async () => {
  const names = Array.from({ length: 104 }, (_, n) => `many-${n}.shop.test`);
  for (const name of names) {
    now += 1;
    await claim(name);
  }
  const run = async (ms: number) => {
    now += ms;
    await node().check();
    await directory.refresh();
    return names.filter((name) => host(name).checkedAt === now);
  };
  expect(await run(minute)).toEqual(names.slice(4));
  const second = await run(11 * minute);
  expect(second).toHaveLength(100);
  expect(second).toEqual(expect.arrayContaining(names.slice(0, 4)));
  // Hosts that were left out come next.
  expect(await run(minute)).toEqual(names.filter((name) => !second.includes(name)));
});
