// Commands that delete: they count first and ask, and leave an audit line and a number for the metrics.

import { PassThrough } from "node:stream";
import { beforeAll, describe, expect, test } from "vitest";
import { unpaced } from "../../src/background/pace.ts";
import { confirm, countText } from "../../src/commands/terminal/confirm.ts";
import { createPurgeJob } from "../../src/maintenance/purge.ts";
import { dayMs, hourMs } from "../../src/kernel/time.ts";
import { createDirectory } from "../../src/sites/directory.ts";
import { configurationTables, purgedTables } from "../../src/store/sites/deletedSites.ts";
import { migrations } from "../../src/store/schema/schema.ts";
import { newEvent, queuedDelivery, settlementOf, newAttempt } from "../support/events.ts";
import { rows, setUpSite, withStore, type SiteSetup } from "../support/installation.ts";
import { engines, newInstallation, type Installation } from "../support/relay.ts";
import { sha256Of } from "../support/sha256.ts";
import { sha256 } from "../support/sha256.ts";

const email = "ada@example.com";
const person = { emailSha256: sha256(sha256Of(email)) };

describe.each(engines)("commands that delete, on %s", (engine) => {
  let home: Installation;

  beforeAll(async () => {
    home = await newInstallation(engine);
  });

  /** Adds a site with a webhook connection and events that were received so many days ago. */
  async function siteWith(host: string, ...daysAgo: number[]): Promise<SiteSetup> {
    const setup = await setUpSite(home, [["webhook", { url: "https://hooks.example.com/a" }]], host);
    await withStore(home, async (store) => {
      for (const days of daysAgo) {
        const fields = { receivedAt: Date.now() - days * dayMs, orderId: `A-${days}`, person };
        const deliveries = [queuedDelivery(setup.connections[0], "webhook")];
        const event = newEvent(setup.siteId, fields, { deliveries });
        await store.events.accept(event);
        await store.deliveries.settle(
          settlementOf(event, "queued", {
            connectionId: String(setup.connections[0]),
            at: fields.receivedAt,
            attempt: newAttempt("queued", { startedAt: fields.receivedAt }),
          }),
        );
      }
    });
    return setup;
  }

  /** The events of these tests claim their own ids, unlike those of senders. */
  async function findFaults(): Promise<string[]> {
    const { wrong } = await home.run("check");
    return wrong.map(({ what }: { what: string }) => what).filter((what: string) => !/\bclaims?\b/.test(what));
  }

  const totals = () => withStore(home, (store) => store.deletions.readTotals());
  const lastAudit = async (...args: string[]) => (await home.run("audit", ...args)).items[0];

  test("a shorter retention counts what it deletes, and is refused without --yes", async () => {
    await siteWith("keep.example.com", 0, 2, 20, 50);
    const before = await totals();
    const refused = await home.fails("site", "set", "keep.example.com", "keep_events=10d", "keep_log=30d");
    expect(refused).toMatchObject({
      field: "yes",
      error:
        "keep_events=10d deletes 2 events with their deliveries; keep_log=30d deletes 1 request with its response in the sync log. " +
        "This cannot be undone. Add --yes to do it.",
    });
    expect(await home.exitCode("site", "set", "keep.example.com", "keep_events=10d")).toBe(4);
    const settings = async () => (await home.run("site", "show", "keep.example.com")).settings.items;
    const keepEvents = async () => (await settings()).find((one: { name: string }) => one.name === "keep_events").value;
    expect(await keepEvents()).toBe("90d");
    expect(await totals()).toEqual(before);

    // A period that deletes nothing, and a longer one, need no confirmation.
    await home.run("site", "set", "keep.example.com", "keep_events=60d");
    await home.run("site", "set", "keep.example.com", "keep_events=80d");
    await home.run("site", "set", "keep.example.com", "keep_events=10d", "--yes");
    expect(await keepEvents()).toBe("10d");
    expect(await lastAudit("keep.example.com")).toMatchObject({
      action: "settings changed",
      detail: { keep_events: "10d" },
    });
    expect(await totals()).toEqual({ ...before, retention: before.retention + 2 });
  });

  test("a setting that is not valid is refused before anything is asked", async () => {
    await siteWith("invalid.example.com", 50);
    expect(await home.fails("site", "set", "invalid.example.com", "keep_events=1")).toMatchObject({
      field: "keep_events",
    });
  });

  test("person erase counts what is stored about the person", async () => {
    await siteWith("erase.example.com", 1, 2, 3);
    await home.run("identity", "put", "erase.example.com", "--email", email, "gclid=abc");
    const erase = ["person", "erase", "erase.example.com", "--email", email];
    const before = await totals();
    expect(await home.fails(...erase)).toMatchObject({
      field: "yes",
      error: "This erases the identity record and the person in 3 events. It cannot be undone. Add --yes to do it.",
    });
    expect(await home.print(...erase, "--yes")).toBe("Erased: the identity record and the person in 3 events.\n");
    expect(await lastAudit("erase.example.com")).toMatchObject({
      action: "person erased",
      detail: { events: 3 },
    });
    expect(await totals()).toEqual({ ...before, person: before.person + 1 });
    expect(await home.print(...erase)).toBe("Nothing was stored about this person.\n");
  });

  test("disconnect counts the deliveries that would never be sent", async () => {
    const { connections } = await siteWith("leave.example.com", 0, 1);
    const id = String(connections[0]);
    const before = await totals();
    expect(await home.fails("connection", "remove", id)).toMatchObject({
      field: "yes",
      error: `This removes the connection ${id} to webhook and its credentials. 2 deliveries that wait for it are never sent. Add --yes to do it.`,
    });
    await home.run("connection", "remove", id, "--yes");
    expect(await lastAudit("leave.example.com")).toMatchObject({
      action: "connection removed",
      detail: { id, platform: "webhook", waiting: 2 },
    });
    expect(await totals()).toEqual({ ...before, connection: before.connection + 1 });
  });

  test("webhook remove counts the periods that would never be pushed", async () => {
    await siteWith("push.example.com");
    const {
      webhook: { id },
    } = await home.run("webhook", "add", "push.example.com", "https://hooks.example.com/totals");
    const before = await totals();
    expect(await home.fails("webhook", "remove", id)).toMatchObject({
      field: "yes",
      error: `This deletes webhook ${id} to https://hooks.example.com and its log. 0 waiting periods are never pushed. Add --yes to do it.`,
    });
    await home.run("webhook", "remove", id, "--yes");
    expect(await lastAudit("push.example.com")).toMatchObject({
      action: "webhook removed",
      detail: { id, waiting: 0 },
    });
    expect(await totals()).toEqual({ ...before, webhook: before.webhook + 1 });
  });

  test("site remove counts everything, stops the site at once, and leaves an audit line of the installation", async () => {
    const { siteId, key } = await siteWith("gone.example.com", 0, 1);
    await home.run("identity", "put", "gone.example.com", "--email", email, "gclid=abc");
    await home.run("webhook", "add", "gone.example.com", "https://hooks.example.com/totals");
    const apiKey = await home.run("api-key", "add", "its own", "--site", "gone.example.com");
    const before = await totals();
    expect(await home.fails("site", "remove", "gone.example.com")).toMatchObject({
      field: "yes",
      error:
        "This deletes the site gone.example.com with 1 host, 1 key, 1 connection, 1 webhook, 2 events, 1 identity record and 0 visitors. " +
        "This cannot be undone. Add --yes to do it.",
    });
    // A node that runs meanwhile knows the site, and hears of its deletion with the next refresh.
    await withStore(home, async (store, directory) => {
      const other = createDirectory(store);
      await other.refresh();
      expect(other.key(key)?.siteId).toBe(siteId);
      const deleted = await home.run("site", "remove", "gone.example.com", "--yes");
      expect(deleted).toMatchObject({ hosts: 1, events: 2 });
      await other.refresh();
      expect([other.site(siteId), other.key(key), other.host("gone.example.com")]).toEqual([undefined, undefined, undefined]);
      expect(directory.site(siteId)).toBeDefined();
    });
    const { items: audit } = await home.run("audit", "--installation");
    expect(audit[0]).toMatchObject({
      action: "site deleted",
      actor: "command line",
      detail: { id: siteId, hosts: ["gone.example.com"], events: 2, identities: 1, webhooks: 1 },
    });
    expect(await totals()).toEqual({ ...before, site: before.site + 1 });
    expect((await home.run("api-key", "list")).items.map(({ id }: { id: string }) => id)).not.toContain(apiKey.id);
    expect(await home.exitCode("site", "show", "gone.example.com")).toBe(3);
    // The same host can be added again.
    await home.run("site", "add", "gone.example.com");
    expect(await findFaults()).toEqual([]);
  });

  test("the data of a deleted site is purged in the background, also what is written after the deletion", async () => {
    const { siteId } = await siteWith("purged.example.com", 0, 1, 2);
    const other = await siteWith("kept.example.com", 1);
    await home.run("site", "remove", "purged.example.com", "--yes");
    const tablesWith = async (id: string) => {
      const found: string[] = [];
      for (const table of purgedTables)
        if ((await rows(home, `SELECT 1 AS n FROM ${table} WHERE site_id = '${id}'`)).length > 0) found.push(table);
      return found;
    };
    expect(await tablesWith(siteId)).toContain("events");
    const kept = await tablesWith(other.siteId);
    const purged: [string, number][] = [];
    await withStore(home, async (store) => {
      const purge = (ms: number) =>
        createPurgeJob({
          store,
          sites: () => [],
          owner: "one",
          pace: unpaced,
          now: () => Date.now() + ms,
          elapsed: () => 0,
          onDefect: (error) => {
            throw error;
          },
          onPurged: (id, count) => purged.push([id, count]),
        }).run();
      await purge(0);
      expect(await tablesWith(siteId)).toEqual([]);
      // An import that was running writes on.
      await store.events.accept(newEvent(siteId, { receivedAt: Date.now() }));
      await purge(2 * hourMs);
      expect(await tablesWith(siteId)).toEqual([]);
      const unpurged = async () => (await store.deletedSites.listUnpurged()).map(({ id }) => id);
      expect(await unpurged()).toContain(siteId);
      await purge(2 * hourMs);
      expect(await unpurged()).not.toContain(siteId);
    });
    expect(purged.filter(([id]) => id === siteId).map(([, count]) => count > 0)).toEqual([true, true]);
    expect(await tablesWith(other.siteId)).toEqual(kept);
    expect(await findFaults()).toEqual([]);
  });
});

test("every table with rows of a site is deleted with it", () => {
  const bySite = migrations.flatMap((one) => [...one.bySite, "removed_connections"]);
  const covered = new Set<string>([...configurationTables, ...purgedTables]);
  // The rows of nodes belong to the whole installation; shared traffic ends by itself within minutes.
  expect(bySite.filter((table) => !covered.has(table))).toEqual(["nodes", "shared_traffic"]);
});

describe("the question before a deletion", () => {
  function terminal(isTTY: boolean) {
    const [input, output] = [new PassThrough(), new PassThrough()].map((one) => Object.assign(one, { isTTY }));
    if (!input || !output) throw new Error("there are two");
    let shown = "";
    output.on("data", (part: Buffer) => (shown += String(part)));
    return { input, output, shown: () => shown };
  }

  test("on a terminal, the right word does it, and any other answer changes nothing", async () => {
    const asked = { what: "This deletes 3 events.", yes: undefined, answer: "shop.example.com" };
    const right = terminal(true);
    right.input.write("shop.example.com\n");
    await confirm(asked, right);
    expect(right.shown()).toContain("This deletes 3 events.\nType shop.example.com to do it: ");
    for (const answer of ["yes\n", "\n"]) {
      const wrong = terminal(true);
      wrong.input.write(answer);
      await expect(confirm(asked, wrong)).rejects.toThrow("Nothing was changed.");
    }
    const closed = terminal(true);
    closed.input.end();
    await expect(confirm(asked, closed)).rejects.toThrow("Nothing was changed.");
  });

  test("--yes asks nothing, and without a terminal nothing is done", async () => {
    const { input, output, shown } = terminal(false);
    await confirm({ what: "This deletes it.", yes: true }, { input, output });
    await expect(confirm({ what: "This deletes it.", yes: undefined }, { input, output })).rejects.toThrow(
      "This deletes it. Add --yes to do it.",
    );
    expect(shown()).toBe("");
  });

  test("counts are grouped by thousands, and the largest one stands for more", () => {
    expect([1, 48_086, 1_000_000].map(countText)).toEqual(["1", "48,086", "more than 1,000,000"]);
  });
});
