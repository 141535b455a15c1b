// Confirmations against the stand-ins. First every status and reason of the platforms, and every fault of a call, with the real
// sender and a clock of the test's own; then the whole way, from an inbound request to the sync log, through a real relay.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { knownAt, standinConnections } from "../../scripts/standinConnections.ts";
import { confirmConnection, type ConfirmationOptions } from "../../src/delivery/confirmations/worker.ts";
import { createQuota } from "../../src/delivery/lanes/quota.ts";
import { createSender } from "../../src/delivery/send.ts";
import type { ConfirmationReason } from "../../src/kernel/confirmation.ts";
import { shortId } from "../../src/kernel/ids.ts";
import { dayMs, hourMs, minuteMs } from "../../src/kernel/time.ts";
import { ga4 } from "../../src/platforms/ga4/index.ts";
import { platformOf } from "../../src/platforms/index.ts";
import { sampleConversion } from "../../src/platforms/shared/sample.ts";
import { connectPlatform } from "../../src/sites/connect.ts";
import { createDirectory, type Connection } from "../../src/sites/directory.ts";
import { findSite } from "../../src/sites/manage.ts";
import { processingErrors } from "../../standins/google_ads/status.ts";
import { clickWith, unattributedReasons } from "../../standins/microsoft_ads/reports.ts";
import { startStandins } from "../../standins/shared/start.ts";
import { becomeOwner } from "../support/apiClient.ts";
import { freshFolder } from "../support/databases.ts";
import { newSite } from "../support/events.ts";
import { rows, setUpSite } from "../support/installation.ts";
import { createNodes } from "../support/nodes.ts";
import { storeSent } from "../support/sentEvents.ts";
import { call, eventually, newInstallation, type Installation, type Relay } from "../support/relay.ts";

/** Stands still, or runs ahead of the machine's clock as the relay's does. */
const clock: { now: number; aheadMs: number | null } = { now: Date.now(), aheadMs: null };
const standins = await startStandins({
  only: ["google_ads", "cm360", "microsoft_ads", "ga4"],
  rateLimits: false,
  now: () => (clock.aheadMs === null ? clock.now : Date.now() + clock.aheadMs),
});
const google = standins.of("google_ads");
const microsoft = standins.of("microsoft_ads");
afterAll(() => standins.close());

describe("asked by the worker", async () => {
  const { store, close } = await createNodes("sqlite");
  const directory = createDirectory(store);
  const allow = { hosts: new Set<string>(), networks: [] };
  const sender = createSender({ connectMs: 60_000, attemptMs: 5000, allow, origins: standins.origins });
  afterAll(async () => {
    await sender.close();
    await close();
  });

  async function connect(platform: "google_ads" | "cm360" | "microsoft_ads" = "google_ads"): Promise<Connection> {
    const siteId = await newSite(store);
    await directory.refresh();
    const by = { actor: "test", now: clock.now, checkAddress: () => null };
    const settings = { ...standinConnections[platform] };
    const site = findSite({ directory }, siteId);
    return (await connectPlatform({ store, directory }, site, platform, { settings }, by)).connection;
  }

  /** Sends conversions with these click ids as one request, and stores them as accepted by it. Returns their event ids. */
  async function send(connection: Connection, ...clicks: string[]): Promise<string[]> {
    const at = clock.now;
    const platform = platformOf(connection.platform) ?? expect.unreachable(connection.platform);
    const clickId = { google_ads: "gclid", cm360: "dclid", microsoft_ads: "msclkid" }[platform.id] ?? "";
    // Microsoft's offline conversions are older than a week, and recognised by their second.
    const time = (i: number) => (platform.id === "microsoft_ads" ? at - 8 * dayMs - i * 1000 : at - minuteMs);
    const orders = clicks.map((value, i) => ({ orderId: shortId(), value, time: time(i) }));
    const conversions = orders.map(({ orderId, value, time: eventTime }) =>
      sampleConversion({
        orderId,
        time: eventTime,
        receivedAt: at,
        clickIds: { [clickId]: { value, seenAt: at - 9 * dayMs } },
      }),
    );
    const request = platform.toRequest(conversions, connection.settings, at);
    const sent = await sender.send(request, { platform: platform.id, customerAddress: false });
    if (!sent.ok || sent.response.status !== 200) return expect.unreachable(JSON.stringify(sent));
    const ids: string[] = [];
    for (const { orderId } of orders)
      ids.push((await storeSent(store, connection, sent.response.body, at, { orderId })).event.id);
    return ids;
  }

  const asked: string[] = [];
  const options: ConfirmationOptions = {
    store,
    directory,
    sender,
    tokens: { fresh: (one) => Promise.resolve(one) },
    quota: createQuota(),
    owner: "node-a",
    now: () => clock.now,
    elapsed: () => clock.now,
    onDefect: (error) => expect.unreachable(String(error)),
    onAsked: (_platform, result) => void asked.push(result),
    onConfirmed() {},
  };

  /** Runs the worker until nothing is due any more. Returns the results of its calls. */
  async function confirm(connection: Connection, afterMs: number): Promise<string[]> {
    clock.now += afterMs;
    const before = asked.length;
    await confirmConnection(options, connection);
    return asked.slice(before);
  }

  const confirmationsOf = async ({ siteId }: Connection, ids: readonly string[]) =>
    (await store.confirmations.listByEvents(siteId, ids)).map(({ state, reason }) => [state, reason]);

  const reasonsOf: readonly (readonly [ConfirmationReason, RegExp])[] = [
    ["duplicate", /^DUPLICATE/],
    ["click too new", /^TOO_RECENT_CLICK/],
    ["platform error", /^INTERNAL_ERROR/],
    ["consent", /CONSENT$/],
    ["too old", /TOO_OLD$/],
    ["no ad click", /^CLICK_NOT_FOUND|^INVALID_CLICK|FOR_CLICK$|^OPERATING_ACCOUNT_MISMATCH/],
    ["other", /^UNSPECIFIED|^A_NEW_REASON/],
  ];

  test.each([...processingErrors, "A_NEW_REASON"])("the reason %s leads to one of ours", async (error) => {
    const connection = await connect();
    const ids = await send(connection, `STANDIN-${error}`);
    expect(await confirm(connection, 31 * minuteMs)).toEqual(["answered"]);
    const [found] = await store.confirmations.listByEvents(connection.siteId, ids);
    expect(found?.detail).toBe(`1 of 1: ${error}`);
    const wanted = reasonsOf.find(([, form]) => form.test(error))?.[0];
    if (wanted) expect(found?.reason).toBe(wanted);
    else expect(["bad id", "bad data", "settings"]).toContain(found?.reason);
    expect(found?.state).toBe(wanted === "duplicate" ? "confirmed" : wanted === "other" ? "unknown" : "not counted");
    clock.now += hourMs;
  });

  describe("Google Analytics", () => {
    /** Sends a purchase, and stores it as accepted. */
    async function purchase(connection: Connection, orderId: string): Promise<string> {
      const at = clock.now;
      const conversion = sampleConversion({ orderId, time: at - minuteMs, receivedAt: at });
      const request = ga4.toRequest([conversion], connection.settings, at);
      const sent = await sender.send(request, { platform: "ga4", customerAddress: false });
      if (!sent.ok || sent.response.status !== 204) return expect.unreachable(JSON.stringify(sent));
      return (await storeSent(store, connection, "", at, { orderId })).event.id;
    }
    const connectGa4 = async (changes: Record<string, string> = {}) => {
      const siteId = await newSite(store);
      await directory.refresh();
      const by = { actor: "test", now: clock.now, checkAddress: () => null };
      const settings = {
        ...standinConnections.ga4,
        property_id: knownAt("ga4", "propertyId"),
        access_token: knownAt("ga4", "accessToken"),
        ...changes,
      };
      const site = findSite({ directory }, siteId);
      return (await connectPlatform({ store, directory }, site, "ga4", { settings }, by)).connection;
    };

    test("purchases in the report are confirmed, and others stay unknown after three days", async () => {
      clock.now = Math.ceil(clock.now / hourMs) * hourMs;
      const connection = await connectGa4();
      const ids = [await purchase(connection, `G-${shortId()}`), await purchase(connection, `STANDIN-HIDDEN-${shortId()}`)];
      expect(await confirm(connection, hourMs)).toEqual([]);
      expect(await confirm(connection, 25 * hourMs)).toEqual(["undecided"]);
      expect(await confirmationsOf(connection, ids)).toEqual([["confirmed", null]]);
      expect(await confirm(connection, 24 * hourMs)).toEqual(["undecided"]);
      expect(await confirm(connection, 24 * hourMs)).toEqual(["undecided"]);
      expect(await confirm(connection, 24 * hourMs)).toEqual(["given up"]);
      const found = await store.confirmations.listByEvents(connection.siteId, ids);
      expect(new Map(found.map(({ eventId, state, reason }) => [eventId, [state, reason]]))).toEqual(
        new Map([
          [ids[0], ["confirmed", null]],
          [ids[1], ["unknown", "no answer"]],
        ]),
      );
    });

    test.each([
      ["without a property", { property_id: "" }],
      ["without a sign-in", { access_token: "" }],
    ])("%s nothing is asked", async (_what, changes) => {
      const connection = await connectGa4(changes);
      await purchase(connection, `G-${shortId()}`);
      expect(await confirm(connection, 26 * hourMs)).toEqual([]);
    });

    test("a token that Google refuses leaves the connection as it is", async () => {
      const connection = await connectGa4({ access_token: knownAt("ga4", "revokedToken") });
      await purchase(connection, `G-${shortId()}`);
      expect(await confirm(connection, 26 * hourMs)).toEqual(["unauthorized"]);
      await directory.refresh();
      expect(directory.connection(connection.siteId, connection.id)?.state).toBe("active");
    });
  });

  test("every reason of the platform is in the list", () => {
    expect(new Set(processingErrors).size).toBe(45);
  });

  test("counted conversions are confirmed, once Google has processed them", async () => {
    const connection = await connect();
    const ids = await send(connection, "EXAMPLE-1", "EXAMPLE-2");
    expect(await confirm(connection, 29 * minuteMs)).toEqual([]);
    expect(await confirm(connection, 2 * minuteMs)).toEqual(["answered"]);
    expect(await confirmationsOf(connection, ids)).toEqual([
      ["confirmed", null],
      ["confirmed", null],
    ]);
  });

  test("a request of which a part counts leaves each conversion unknown, and its counts in the sums", async () => {
    const connection = await connect();
    const ids = await send(connection, "EXAMPLE-3", "STANDIN-CLICK_NOT_FOUND", "STANDIN-NO_CONSENT");
    await confirm(connection, 31 * minuteMs);
    const found = await store.confirmations.listByEvents(connection.siteId, ids);
    expect(found.map(({ state, detail }) => [state, detail])).toEqual(
      ids.map(() => ["unknown", "1 of 3: CLICK_NOT_FOUND, 1 of 3: NO_CONSENT"]),
    );
    const hour = Math.floor(clock.now / hourMs);
    const counts = await store.confirmations.listCounts(connection.siteId, hour - 2, hour + 1);
    expect(counts.map(({ state, reason, count }) => [state, reason, count]).toSorted()).toEqual([
      ["confirmed", null, 1],
      ["not counted", "consent", 1],
      ["not counted", "no ad click", 1],
    ]);
  });

  test.each([
    ["PROCESSING", "undecided"],
    ["REQUEST_STATUS_UNKNOWN", "undecided"],
  ])("a request that stays %s is asked seven times in two days, and then given up", async (status, result) => {
    const connection = await connect();
    const ids = await send(connection, `STANDIN-${status}`);
    const results: string[] = [];
    for (let hours = 0; hours < 60; hours++) results.push(...(await confirm(connection, hourMs)));
    expect(results).toEqual([...Array.from({ length: 7 }, () => result), "given up"]);
    expect(await confirmationsOf(connection, ids)).toEqual([["unknown", "no answer"]]);
  });

  test("an answer that leaves out the counts confirms nothing", async () => {
    const connection = await connect();
    const ids = await send(connection, "STANDIN-WITHOUT_COUNTS", "EXAMPLE-4");
    await confirm(connection, 31 * minuteMs);
    expect(await confirmationsOf(connection, ids)).toEqual([
      ["unknown", "other"],
      ["unknown", "other"],
    ]);
  });

  test.each([
    { kind: "throttle" },
    { kind: "server_error" },
    { kind: "html" },
    { kind: "malformed_json" },
    { kind: "reset" },
    { kind: "slow", ms: 20_000 },
  ] as const)("after a fault of the call ($kind) the answer comes with a later one", async (fault) => {
    const connection = await connect();
    const ids = await send(connection, `EXAMPLE-${fault.kind}`);
    google.fault({ ...fault, on: "status" });
    expect(await confirm(connection, 31 * minuteMs)).toEqual(["retry"]);
    expect(await confirmationsOf(connection, ids)).toEqual([]);
    google.clearFaults();
    expect(await confirm(connection, hourMs)).toEqual(["answered"]);
    expect(await confirmationsOf(connection, ids)).toEqual([["confirmed", null]]);
  });

  test("a token that is not valid leaves the connection as it is, and the answer comes with a valid one", async () => {
    const connection = await connect();
    const ids = await send(connection, "EXAMPLE-5");
    google.fault({ kind: "revoked_token", on: "status" });
    expect(await confirm(connection, 31 * minuteMs)).toEqual(["unauthorized"]);
    await directory.refresh();
    expect(directory.connection(connection.siteId, connection.id)?.state).toBe("active");
    expect(await confirm(connection, hourMs)).toEqual(["answered"]);
    expect(await confirmationsOf(connection, ids)).toEqual([["confirmed", null]]);
  });

  test("Campaign Manager 360 is asked like Google Ads, with its own sign-in", async () => {
    const connection = await connect("cm360");
    const ids = [
      ...(await send(connection, "EXAMPLE-DCLID")),
      ...(await send(connection, "STANDIN-USER_ID_NOT_FOUND_FOR_DCLID")),
    ];
    expect(await confirm(connection, 31 * minuteMs)).toEqual(["answered", "answered"]);
    expect(await confirmationsOf(connection, ids)).toEqual([
      ["confirmed", null],
      ["not counted", "bad id"],
    ]);
  });

  describe("Microsoft", () => {
    const counted = "dd4afccc-b1c9-4a4c-ad95-44dd7e5006ab";

    test.each(unattributedReasons)("the reason %s leads to one of ours", async (reason) => {
      microsoft.reset();
      clock.now = (Math.floor(clock.now / dayMs) + 1) * dayMs;
      const connection = await connect("microsoft_ads");
      const ids = await send(connection, clickWith(reason));
      expect(await confirm(connection, 29 * hourMs)).toEqual([]);
      expect(await confirm(connection, 2 * hourMs)).toEqual(["answered"]);
      const [found] = await store.confirmations.listByEvents(connection.siteId, ids);
      expect(found?.detail).toBe(`1 of 1: ${reason}`);
      const isOther = reason === "Unknown";
      const isDuplicate = reason === "DuplicateConversionKey";
      expect(found?.reason === "other").toBe(isOther);
      expect(found?.state).toBe(isOther ? "unknown" : isDuplicate ? "confirmed" : "not counted");
    });

    test("the conversions of a goal and day are asked for together, with two calls", async () => {
      microsoft.reset();
      clock.now = (Math.floor(clock.now / dayMs) + 1) * dayMs;
      const connection = await connect("microsoft_ads");
      const ids = [...(await send(connection, counted)), ...(await send(connection, counted, counted))];
      // The first row of the second request repeats a click and second, which Microsoft recognises.
      clock.now += hourMs;
      ids.push(...(await send(connection, counted)));
      microsoft.received.length = 0;
      expect(await confirm(connection, 30 * hourMs)).toEqual(["answered"]);
      expect(microsoft.received.map(({ kind }) => kind)).toEqual(["listing", "status"]);
      expect(await confirmationsOf(connection, ids)).toEqual(ids.map(() => ["confirmed", "duplicate"]));
    });

    test("another tool's uploads to the same goal leave the conversions unknown", async () => {
      microsoft.reset();
      clock.now = (Math.floor(clock.now / dayMs) + 1) * dayMs;
      const connection = await connect("microsoft_ads");
      const ids = await send(connection, counted);
      await send(await connect("microsoft_ads"), clickWith("MalformedData"));
      await confirm(connection, 31 * hourMs);
      const [found] = await store.confirmations.listByEvents(connection.siteId, ids);
      expect(found).toMatchObject({
        state: "unknown",
        detail: "1 of 2 attributed, of which 1 were sent from here",
      });
    });
  });

  test("a minute has twenty calls at most, and the others follow", async () => {
    const connection = await connect();
    for (let i = 0; i < 25; i++) await send(connection, `EXAMPLE-Q-${i}`);
    clock.now += dayMs;
    expect(await confirm(connection, 31 * minuteMs)).toHaveLength(20);
    expect(await confirm(connection, minuteMs)).toHaveLength(5);
  });
});

describe("a relay asks Google for what it sent", () => {
  const shiftClock = fileURLToPath(new URL("../support/shiftClock.ts", import.meta.url));
  const clockFile = join(freshFolder(), "clock");
  const host = "shop.example.com";
  let home: Installation;
  let relay: Relay;
  let key: string;
  let siteId: string;
  let aheadMs = 0;

  /** Sets the clocks of the relay and of the stand-in. */
  function setAhead(ms: number): void {
    aheadMs = ms;
    writeFileSync(clockFile, String(ms));
    clock.aheadMs = ms;
  }

  beforeAll(async () => {
    google.reset();
    setAhead(0);
    home = await newInstallation("sqlite", {
      CLEANCAST_PLATFORM_ORIGINS: JSON.stringify(standins.origins),
      CLEANCAST_CONFIRMATION_SECONDS: "0.1",
    });
    ({ key, siteId } = await setUpSite(home, [["google_ads", { ...standinConnections.google_ads }]]));
    relay = await start();
  });

  const start = () =>
    home.start({
      CLEANCAST_TEST_CLOCK: clockFile,
      NODE_OPTIONS: `${home.env.NODE_OPTIONS ?? ""} --import ${shiftClock}`.trim(),
    });

  type Line = {
    event: { id: string; orderId: string };
    state: string;
    reason: string | null;
    confirmation: { state: string; reason: string | null; detail: string | null } | null;
  };
  const list = async (...filter: string[]): Promise<Line[]> => (await home.run("delivery", "list", host, ...filter)).items;
  const confirmations = async () =>
    Object.fromEntries((await list()).map(({ event, confirmation }) => [event.orderId, confirmation?.state]));

  test("each conversion gets its confirmation, and one whose click is too new is sent again and counted", async () => {
    const clicks = {
      "A-1": "EXAMPLE-A1",
      "A-2": "STANDIN-CLICK_NOT_FOUND",
      "A-3": "STANDIN-TOO_RECENT_CLICK",
    };
    for (const [orderId, gclid] of Object.entries(clicks)) {
      const email = `${orderId.toLowerCase()}@example.com`;
      await home.run("identity", "put", host, "--email", email, `gclid=${gclid}`);
      const answer = await relay.post(key, { email, event: "purchase", value: 10, orderId });
      expect(answer.text).toContain('"google_ads":{"ok":true}');
    }
    expect(await confirmations()).toEqual({ "A-1": "unknown", "A-2": "unknown", "A-3": "unknown" });

    setAhead(31 * minuteMs);
    await eventually("Google answered", async () => (await list("--state", "queued")).length === 1);
    expect(await confirmations()).toEqual({ "A-1": "confirmed", "A-2": "not counted", "A-3": "not counted" });
    const [again] = await list("--state", "queued");
    expect(again).toMatchObject({
      event: { orderId: "A-3" },
      reason: "not counted yet",
      confirmation: { reason: "click too new", detail: "1 of 1: TOO_RECENT_CLICK" },
    });
    const bySearch = await list("--confirmation", "not_counted", "--confirmation-reason", "no_ad_click");
    expect(bySearch.map(({ event }) => event.orderId)).toEqual(["A-2"]);

    setAhead(aheadMs + 6 * hourMs);
    await eventually("it was sent again", async () => (await list("--state", "sent")).length === 3);
    setAhead(aheadMs + 31 * minuteMs);
    await eventually("it is counted", async () => (await confirmations())["A-3"] === "confirmed");
    expect(google.accepted.filter(({ id }) => id === "A-3")).toMatchObject([{ count: 2, counted: 1 }]);
  });

  test("the trace says what Google said, and the metrics count it", async () => {
    const [line] = (await home.run("delivery", "list", host, "--order", "A-2")).items;
    expect(await home.print("event", "show", line.event.id)).toContain(
      "confirmation: not counted: no ad click (1 of 1: CLICK_NOT_FOUND)",
    );
    const { text } = await call(relay.url, { method: "GET", path: "/metrics" });
    expect(text).toContain('cleancast_confirmations_total{platform="google_ads",state="confirmed"} 2');
    expect(text).toMatch(/cleancast_confirmation_calls_total\{platform="google_ads",result="answered"\} 4/);
  });

  test("list, export, trace and statistics of the management API have the confirmations", async () => {
    // The hour may have been counted before its last event was sent. It is counted again when it is up to a day old, and a relay
    // looks for such hours when it starts, then every five minutes of a clock that this test does not move.
    await relay.stop();
    setAhead(aheadMs + dayMs);
    relay = await start();
    const owner = await becomeOwner(relay);
    const of = (path: string) => `GET /sites/${siteId}${path}`;
    const lost = (await owner.ask(of("/deliveries?confirmation=not%20counted"))).json;
    expect(lost.items).toMatchObject([
      { event: { orderId: "A-2" }, confirmation: { state: "not counted", reason: "no ad click" } },
    ]);
    const none = await owner.ask(of("/deliveries?confirmationReason=consent"));
    expect(none.json.items).toEqual([]);
    const csv = (await owner.ask(of("/deliveries.csv?confirmationReason=no%20ad%20click"))).answer.text;
    expect(csv).toContain("not counted,no ad click,1 of 1: CLICK_NOT_FOUND");
    const trace = (await owner.ask(of(`/events/${lost.items[0].event.id}`))).json;
    expect(trace.deliveries).toMatchObject([{ confirmation: { state: "not counted" } }]);
    const now = Date.now() + aheadMs;
    const statistics = async () => (await owner.ask(of(`/statistics?from=${now - 2 * dayMs}&to=${now}`))).json.platforms;
    await eventually("they have the last state", async () => (await statistics())[0].states.sent === 3);
    expect(await statistics()).toMatchObject([
      {
        platform: "google_ads",
        states: { sent: 3 },
        confirmations: {
          confirmed: 2,
          notCounted: 1,
          unknown: 0,
          reasons: [{ state: "not counted", reason: "no ad click", conversions: 1 }],
        },
      },
    ]);
  });

  test("a restart asks nothing again, and the sums stay as they are", async () => {
    const calls = () => google.received.filter(({ kind }) => kind === "status").length;
    const before = calls();
    await relay.stop();
    relay = await start();
    setAhead(aheadMs + dayMs - hourMs);
    const email = "a-4@example.com";
    await home.run("identity", "put", host, "--email", email, "gclid=EXAMPLE-A4");
    await relay.post(key, { email, event: "purchase", value: 10, orderId: "A-4" });
    setAhead(aheadMs + 31 * minuteMs);
    await eventually("the next one is counted", async () => (await confirmations())["A-4"] === "confirmed");
    expect(calls() - before).toBe(1);
    const counts = await rows(
      home,
      "SELECT state, reason, SUM(count) AS n FROM confirmation_counts GROUP BY state, reason ORDER BY state",
    );
    expect(counts.map(({ state, reason, n }) => [state, reason, Number(n)])).toEqual([
      ["confirmed", "", 3],
      ["not counted", "no ad click", 1],
    ]);
  });

  test("a refund changes the value of the conversion at Google, and so does the command", async () => {
    const valueOf = (orderId: string) => {
      const event = google.accepted.find(({ id }) => id === orderId)?.event;
      return (event as { conversionValue?: number } | undefined)?.conversionValue;
    };
    await home.run("site", "set", host, "corrections=on");
    const heads = () => rows(home, "SELECT reached FROM cursors WHERE name = 'corrections'");
    await eventually("refunds are looked for", async () => (await heads()).length === 1);
    expect(valueOf("A-1")).toBe(10);
    const refund = { email: "a-1@example.com", event: "refund", value: 4, orderId: "A-1" };
    expect((await relay.post(key, refund)).text).toContain(
      "Google Ads takes no refunds; with corrections=on, the purchase is corrected",
    );
    setAhead(aheadMs + 3 * minuteMs);
    await eventually("the conversion is restated", () => valueOf("A-1") === 6);
    await home.run("correction", "add", host, "A-1", "--value", "2.5");
    await eventually("it is restated again", () => valueOf("A-1") === 2.5);
    expect(google.accepted.filter(({ id }) => id === "A-1")).toMatchObject([{ counted: 1 }]);
    const listed = async () => (await home.run("correction", "list", host)).items;
    await eventually("it is stored", async () => (await listed())[0]?.state === "corrected");
    expect(await listed()).toMatchObject([{ platform: "google_ads", value: 2.5, source: "order list" }]);
  });
});
