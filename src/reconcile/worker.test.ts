// Runs, feeds, retention and erasure of reconciliation, on both engines.

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { newEvent } from "../../test/support/events.ts";
import { createNodes, sql } from "../../test/support/nodes.ts";
import { engines, eventually } from "../../test/support/relay.ts";
import { sha256Of } from "../../test/support/sha256.ts";
import { readAllowList, type AllowList } from "../delivery/addresses.ts";
import { erasePerson, exportPerson } from "../identity/people.ts";
import { dayMs, hourMs } from "../kernel/time.ts";
import { createDirectory, type Directory, type Site } from "../sites/directory.ts";
import { addSite } from "../sites/manage.ts";
import type { Run } from "../store/reconciliation/runs.ts";
import { fetchSoon, findFeed, removeFeed, setFeed } from "./feed.ts";
import { fetchDue, type FeedWorkerOptions } from "./feedWorker.ts";
import { cancelRun, findRun, startRun } from "./manage.ts";
import { readMissing } from "./missing.ts";
import { stepRun } from "./step.ts";
import { createReconciliationJob, createStep } from "./worker.ts";
import { writeListedOrders } from "./uploadOrders.ts";
import { english } from "../kernel/messages/message.ts";

const now = Date.UTC(2026, 10, 15, 12);
const by = { actor: "test", now };
const allow = readAllowList("127.0.0.1") as AllowList;
const onDefect = (error: unknown) => {
  throw error;
};
const days = { from: "2026-11-01", to: "2026-11-12" };

describe.each(engines)("reconciliation on %s", async (engine) => {
  const { store, other, location, close } = await createNodes(engine);
  const directory: Directory = createDirectory(store);
  afterAll(close);

  let hosts = 0;
  const newSite = (): Promise<Site> => addSite({ store, directory }, `shop-${(hosts += 1)}.example`, by);
  const list = (site: Site, orders: Record<string, string | number>[]) =>
    writeListedOrders({ store, siteId: site.id, now }, orders, "UTC");
  const someOrders = (count: number) =>
    Array.from({ length: count }, (_, i) => ({
      orderId: `A-${i}`,
      time: "2026-11-02T10:00:00Z",
      value: 5,
      email: "ada@example.com",
    }));
  const optionsOf = (node = store, owner = "one") => ({
    store: node,
    directory,
    owner,
    now: () => now,
    elapsed: () => performance.now(),
    onDefect,
  });
  async function finish(run: Run): Promise<Run> {
    const step = createStep(optionsOf());
    for (let next: Run | null = run; next?.state === "running";) next = await step(next);
    return findRun(store, run.siteId, run.id);
  }

  test("a long list of orders is written with short commits", async () => {
    const site = await newSite();
    const commits: number[] = [];
    const orders = {
      ...store.orders,
      write: (some: Parameters<typeof store.orders.write>[0]) => {
        commits.push(some.length);
        return store.orders.write(some);
      },
    };
    const target = { store: { orders }, siteId: site.id, now };
    expect(await writeListedOrders(target, someOrders(320), "UTC")).toEqual({ written: 320, refused: [] });
    expect(commits).toEqual([50, 50, 50, 50, 50, 50, 20]);
  });

  test("two nodes finish a run together, and another run of the site waits until then", async () => {
    const site = await newSite();
    await list(site, someOrders(120));
    const run = await startRun(store, site, days, by);
    await expect(startRun(store, site, days, by)).rejects.toThrow("is running");
    const ended: string[] = [];
    const onEnded = ({ id }: Run) => void ended.push(id);
    const workers = [
      createReconciliationJob({ ...optionsOf(), onEnded }).start(),
      ...(engine === "postgres" ? [createReconciliationJob({ ...optionsOf(other, "two"), onEnded }).start()] : []),
    ];
    try {
      await eventually("the run ends", async () => (await findRun(store, site.id, run.id)).state === "done");
    } finally {
      for (const worker of workers) await worker.stop();
    }
    expect(ended).toEqual([run.id]);
    expect((await findRun(store, site.id, run.id)).tally).toMatchObject({
      orders: 120,
      classes: { missing_here: 120 },
    });
    expect((await startRun(store, site, days, by)).state).toBe("running");
  });

  test("a run that a shared look has listed is done to its end, though another cannot be read; no other is asked for", async () => {
    const site = await newSite();
    await list(site, someOrders(20));
    const run = await startRun(store, site, days, by);
    const lost = { siteId: "on-a-machine-that-is-down", id: run.id };
    const failure = new Error("the machine is down");
    const listed = [lost, run];
    const reconciliations: typeof store.reconciliations = {
      ...store.reconciliations,
      find: async (key) => (key === lost ? Promise.reject(failure) : store.reconciliations.find(key)),
      listRunning: () => expect.unreachable("it is not asked"),
    };
    const defects: unknown[] = [];
    const worker = createReconciliationJob({
      ...optionsOf({ ...store, reconciliations }),
      dueWork: { isShared: true, listed: () => listed.splice(0) },
      onDefect: (error) => defects.push(error),
    }).start();
    try {
      await eventually("the run ends", async () => (await findRun(store, site.id, run.id)).state === "done");
    } finally {
      await worker.stop();
    }
    expect(defects).toEqual([failure]);
  });

  test("a cancelled run keeps its rows and does nothing more", async () => {
    const site = await newSite();
    await list(site, someOrders(3));
    const run = await startRun(store, site, days, by);
    expect((await cancelRun(store, run, by)).state).toBe("cancelled");
    await expect(cancelRun(store, run, { ...by, now: now + 1 })).rejects.toThrow("is not running");
    expect(await createStep(optionsOf())(run)).toBeNull();
    expect(await store.reconciliations.listRows(run, null, "", 10)).toEqual([]);
  });

  test("a cancelled run stays cancelled when another node makes the step that was made before", async () => {
    const site = await newSite();
    await list(site, someOrders(3));
    const run = await startRun(store, site, days, by);
    const step = (node = store) => stepRun({ store: node, timeZone: "UTC", limit: 1, now }, run);
    expect(await step()).toMatchObject({ state: "running" });
    await cancelRun(store, run, by);
    expect(await step(other)).toBeNull();
    expect((await findRun(store, site.id, run.id)).state).toBe("cancelled");
  });

  test("a run whose row is damaged is cancelled, and others go on", async () => {
    const [broken, whole] = [await newSite(), await newSite()];
    for (const site of [broken, whole]) await list(site, someOrders(2));
    const run = await startRun(store, broken, days, by);
    const next = await startRun(store, whole, days, by);
    await sql(location, `UPDATE reconciliations SET tally = '{' WHERE id = '${run.id}' RETURNING id`);
    const faults: unknown[] = [];
    const worker = createReconciliationJob({ ...optionsOf(), onDefect: (error) => faults.push(error) }).start();
    try {
      await eventually("the other ends", async () => (await findRun(store, whole.id, next.id)).state === "done");
      await eventually("it is cancelled", async () => (await findRun(store, broken.id, run.id)).state === "cancelled");
    } finally {
      await worker.stop();
    }
    expect(faults).toHaveLength(1);
  });

  test.each([
    [{ tolerance: 51 }, "tolerance must be a number from 0 to 50"],
    [{ event: " " }, "event must be the name of an event"],
    [{ from: "2026-11-13", to: "2026-11-12" }, "from must not be after to"],
  ])("a run with %j is refused", async (wanted, message) => {
    const site = await newSite();
    await expect(startRun(store, site, wanted, by)).rejects.toThrow(message);
    await expect(startRun(store, site, {}, by)).rejects.toThrow("The site has no orders yet");
  });

  test("old orders and runs are purged: by age, and beyond the number of runs that are kept", async () => {
    const site = await newSite();
    await list(site, [...someOrders(3), { orderId: "old", time: "2026-01-01T00:00:00Z" }]);
    const runs = [];
    for (let i = 0; i < 3; i++) runs.push(await finish(await startRun(store, site, days, { ...by, now: now + i })));
    const running = await startRun(store, site, days, by);
    expect((await store.orders.purge(site.id, now - 30 * dayMs, 100)).removed).toBe(1);
    const purge = async (before: number, max: number) => {
      for (let next: string | null = ""; next !== null;) ({ next } = await store.reconciliations.purge(site.id, before, max, 2));
      return (await store.reconciliations.list(site.id)).map(({ id }) => id);
    };
    const [, second, third] = runs.map(({ id }) => id);
    expect(await purge(0, 2)).toEqual([running.id, third, second].toSorted().toReversed());
    expect(await purge(now + hourMs, 9)).toEqual([running.id]);
    for (const run of runs) expect(await store.reconciliations.listRows(run, null, "", 10)).toEqual([]);
  });

  test("an export of a person has their orders, and an erasure leaves the numbers and nothing of the person", async () => {
    const site = await newSite();
    const emailSha256 = sha256Of("eve@example.com");
    await list(site, [
      { orderId: "B-1", time: "2026-11-02", value: 5, email: "eve@example.com" },
      { orderId: "eve@example.com", time: "2026-11-02", value: 5, email: "eve@example.com" },
      { time: "2026-11-02", value: 5, email: "eve@example.com" },
      { orderId: "B-2", time: "2026-11-02", value: 5, email: "ada@example.com" },
    ]);
    const run = await finish(await startRun(store, site, days, by));
    const request = { siteId: site.id, emailSha256, actor: "test", now };
    expect((await exportPerson(store, request)).orders.map(({ id }) => id)).toContain("=b-1");
    expect((await exportPerson(store, request)).orders).toHaveLength(3);
    expect(await erasePerson(store, request)).toMatchObject({ orders: 3 });
    expect((await exportPerson(store, request)).orders).toEqual([]);
    const rows = await store.reconciliations.listRows(run, null, "", 10);
    expect(rows).toHaveLength(4);
    const ids = rows.map(({ id }) => id.replace(/^~erased \w+$/, "erased")).toSorted();
    expect(ids).toEqual(["=b-1", "=b-2", "erased", "erased"]);
    for (const table of ["orders", "reconciliation_rows"]) {
      const text = JSON.stringify(await sql(location, `SELECT * FROM ${table} WHERE site_id = '${site.id}'`));
      expect(text).not.toContain(emailSha256);
      expect(text).not.toContain("email-");
    }
  });

  test("missing orders are exported as the import reads them; orders without an email are counted", async () => {
    const site = await newSite();
    await list(site, [
      { orderId: "#1", time: "2026-11-02T10:00:00Z", value: 5, currency: "EUR", email: "ada@example.com" },
      { orderId: "#2", time: "2026-11-02T10:00:00Z", value: 5 },
      { orderId: "#3", time: "2026-11-02T10:00:00Z", value: 5, email: "ada@example.com" },
    ]);
    await store.events.accept(
      newEvent(site.id, { orderId: "3", receivedAt: Date.UTC(2026, 10, 2, 10), value: 5, currency: "USD" }),
    );
    const run = await finish(await startRun(store, site, days, by));
    const pages = await Array.fromAsync(readMissing({ store, timeZone: "UTC" }, run), ({ orders, withoutEmail }) => ({
      orders: [...orders.values()],
      withoutEmail,
    }));
    expect(pages).toEqual([
      {
        orders: [
          {
            hashed_email: sha256Of("ada@example.com"),
            event: "purchase",
            value: 5,
            currency: "EUR",
            orderId: "#1",
            eventTime: "2026-11-02T10:00:00.000Z",
          },
        ],
        withoutEmail: 1,
      },
    ]);
  });

  describe("a feed", () => {
    let answer: (request: IncomingMessage, response: ServerResponse) => void;
    const seen: { url: string | undefined; key: unknown }[] = [];
    const server = createServer((request, response) => {
      seen.push({ url: request.url, key: request.headers["x-api-key"] });
      answer(request, response);
    });
    let origin = "";
    beforeAll(async () => {
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    });
    afterEach(() => void (seen.length = 0));
    afterAll(() => new Promise((resolve) => server.close(resolve)));

    const csv = "Order ID,Created at,Total\n1,2026-11-02 10:00,5\n2,2026-11-03 10:00,7\n3,soon,7\n";
    const send = (body: string, status = 200, headers: Record<string, string> = {}) => {
      answer = (_request, response) => void response.writeHead(status, headers).end(body);
    };
    const feedOptions = (more: Partial<FeedWorkerOptions> = {}): FeedWorkerOptions => ({
      store,
      directory,
      allow,
      connectMs: 1000,
      now: () => now,
      onDefect,
      ...more,
    });
    const work = (more: Partial<FeedWorkerOptions> = {}) => fetchDue(feedOptions(more), new AbortController().signal);
    const withFeed = async (more: object = {}) => {
      const site = await newSite();
      await setFeed(store, site, { url: `${origin}/orders.csv?token=s3cret`, ...more }, { ...by, allow });
      return site;
    };
    const clear = (site: Site) => removeFeed(store, site.id, by);

    test("is fetched once by several nodes, with its header, and starts a reconciliation", async () => {
      send(csv);
      const site = await withFeed({ header: { name: "X-Api-Key", value: "k3y-of-the-feed" } });
      await Promise.all([work(), work({ store: other })]);
      expect(seen).toEqual([{ url: "/orders.csv?token=s3cret", key: "k3y-of-the-feed" }]);
      expect(await findFeed(store, site.id)).toMatchObject({
        error: null,
        failingSince: null,
        fetchedAt: now,
        dueAt: now + dayMs,
        tally: { rows: 3, written: 2, refused: 1 },
      });
      expect((await store.orders.summarize(site.id)).orders).toBe(2);
      expect(await store.reconciliations.list(site.id)).toMatchObject([{ state: "running", startedBy: "order feed" }]);
      await work();
      expect(seen).toHaveLength(1);
      await work({ now: () => now + dayMs });
      expect(seen).toHaveLength(2);
      await fetchSoon(store, site.id);
      await work();
      expect(seen).toHaveLength(3);
      const stored =
        JSON.stringify(await sql(location, "SELECT * FROM order_feeds")) +
        JSON.stringify(await sql(location, "SELECT * FROM audit"));
      expect(stored).not.toContain("s3cret");
      expect(stored).not.toContain("k3y-of-the-feed");
      await clear(site);
    });

    test("whose server does not answer keeps no other waiting", async () => {
      const [slow, fast] = [await withFeed({ url: `${origin}/slow.csv` }), await withFeed()];
      let release = () => {};
      answer = (request, response) => {
        const end = () => void response.end(csv);
        if (request.url === "/slow.csv") release = end;
        else end();
      };
      const working = work({ dueWork: { listed: () => [slow, fast].map(({ id }) => ({ siteId: id, id })) } });
      await eventually("the other one is fetched", async () => (await findFeed(store, fast.id))?.fetchedAt === now);
      expect((await findFeed(store, slow.id))?.fetchedAt).not.toBe(now);
      release();
      await working;
      expect((await findFeed(store, slow.id))?.fetchedAt).toBe(now);
      for (const site of [slow, fast]) await clear(site);
    });

    test.each(["find", "claim"] as const)(
      "whose %s fails keeps no other waiting, and is fetched when it is listed again",
      async (method) => {
        send(csv);
        const [down, up] = [await withFeed(), await withFeed()];
        const fail = (siteId: string) => {
          if (siteId === down.id) throw new Error("the machine is down");
        };
        const feeds = store.orderFeeds;
        const failing: Partial<typeof feeds> =
          method === "find"
            ? { find: async (siteId) => (fail(siteId), feeds.find(siteId)) }
            : { claim: async (feed, at) => (fail(feed.siteId), feeds.claim(feed, at)) };
        const dueWork = { listed: () => [down, up].map(({ id }) => ({ siteId: id, id })) };
        const defects: unknown[] = [];
        await work({
          store: { ...store, orderFeeds: { ...feeds, ...failing } },
          dueWork,
          onDefect: (error) => defects.push(error),
        });
        expect(defects).toEqual([new Error("the machine is down")]);
        expect((await findFeed(store, down.id)).fetchedAt).toBeNull();
        expect((await findFeed(store, up.id)).fetchedAt).toBe(now);
        await work({ dueWork });
        expect((await findFeed(store, down.id)).fetchedAt).toBe(now);
        for (const site of [down, up]) await clear(site);
      },
    );

    test.each([
      ["an error", () => send("no", 503), "the answer has the status 503"],
      ["a redirect", () => send("", 302, { location: "http://169.254.169.254/" }), "the answer has the status 302"],
      ["a compressed answer", () => send("x", 200, { "content-encoding": "gzip" }), "the answer is compressed"],
      ["an empty answer", () => send(""), "The answer is empty."],
      ["rows without a header", () => send("eve@example.com,5\n"), "No column was found for orderId (or email), time."],
      [
        "rows that cannot be read",
        () => send("order,date\n1,soon\n"),
        "no row could be read: time is not a time that can be read; write it like 2026-10-31T12:30:00Z",
      ],
      [
        "a cut answer",
        () =>
          void (answer = (_request, response) => {
            response.writeHead(200, { "content-length": "1000" });
            response.write("order,date\n");
            setTimeout(() => response.destroy(), 20);
          }),
        expect.stringMatching(/^connection (?:closed without an answer|reset)$/),
      ],
    ])("that answers with %s fails with its reason, and is tried again after an hour", async (_name, set, error) => {
      set();
      const site = await withFeed();
      await work();
      const feed = await findFeed(store, site.id);
      expect({ ...feed, error: english(feed.error ?? "") }).toMatchObject({ error, failingSince: now, dueAt: now + hourMs });
      send(csv);
      await work({ now: () => now + hourMs });
      expect(await findFeed(store, site.id)).toMatchObject({ error: null, failingSince: null });
      await clear(site);
    });

    test("whose address leads to a private network is refused when it is set, and when it is fetched", async () => {
      const site = await newSite();
      const none = readAllowList("") as AllowList;
      const set = (url: string) => setFeed(store, site, { url }, { ...by, allow: none });
      await expect(set(`${origin}/orders.csv`)).rejects.toThrow("url must use https");
      await expect(set("https://10.0.0.1/orders.csv")).rejects.toThrow("private address");
      await set("https://shop.example/orders.csv");
      await work({ allow: none, resolve: async () => ["10.0.0.1"] });
      expect((await findFeed(store, site.id)).error).toContain("leads to a private address");
      await clear(site);
    });

    test.each([
      [{ header: { name: "Host", value: "x" } }, "header must have a name like Authorization"],
      [{ header: { name: "X-Key", value: "a\r\nb" } }, "must be printable ASCII"],
      [{ columns: { price: "Total" } }, "price is not a field of orders"],
      [{ timeZone: "Mars" }, "timeZone is not a time zone"],
    ])("with %j is refused", async (more, message) => {
      await expect(withFeed(more)).rejects.toThrow(message);
    });
  });
});
