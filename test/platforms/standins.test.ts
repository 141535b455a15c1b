// Every platform against its stand-in, through a real relay: what the command line, the tag and the store add to a connection.
// everyPlatform.test.ts and everyAnswer.test.ts walk requests and answers without a relay.

import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { knownAt, revokedTokens, standinConnections } from "../../scripts/standinConnections.ts";
import { findEventById, readTrace } from "../../src/delivery/trace/trace.ts";
import { platformOf } from "../../src/platforms/index.ts";
import { standins as list, type StandinId } from "../../standins/index.ts";
import { startStandins, type StandinHandle, type Standins } from "../../standins/shared/start.ts";
import { withStore } from "../support/installation.ts";
import { eventually, newInstallation, type Installation, type Relay, type TestSite } from "../support/relay.ts";
import { sha256Of } from "../support/sha256.ts";
import { report } from "../support/visits.ts";

let standins: Standins;
let home: Installation;
let relay: Relay;

beforeAll(async () => {
  standins = await startStandins({ rateLimits: false });
  home = await newInstallation("sqlite", {
    CLEANCAST_PLATFORM_ORIGINS: JSON.stringify(standins.origins),
    CLEANCAST_RETRY_SECONDS: "0.2",
    CLEANCAST_ATTEMPT_SECONDS: "3",
    CLEANCAST_COLLECT_PER_MINUTE: "1000000",
  });
  relay = await home.start();
});
afterAll(() => standins.close());

/** A visit with the ids of every platform. */
const clicks = {
  gclid: "EAIaIQobChMI_standin_Click-1",
  fbclid: "IwAR2F4-dbP0l7Mn1IawQQGCINEz7PYXQvwjNwB_qa2ofrHyiLjcbCRxTDMgk",
  ttclid: "E.C.P.standinTikTokClick1",
  msclkid: "dd4afccc-b1c9-4a4c-ad95-44dd7e5006ab",
  li_fat_id: "a3b1f0c2-9d4e-4f6a-8b7c-1d2e3f4a5b6c",
  epik: "dj0yJnU9c3RhbmRpbl9waW50ZXJlc3Q",
  ScCid: "5a9f3c10-8e52-4b7d-a6f1-standinSnap",
  rdt_cid: "2034567890123456789",
  twclid: "26l6412g5p4iyj65a2oic2ayg2",
  oppref: "gAAAAABo-standin_Click",
  ndclid: "nd-standin_Click-1",
  aleid: "ax-standin_Click-1",
  alart: "ax-standin_Visitor-1",
  qclid: "standin_Click|4711|0",
  tblci: "GiDxLZcEVjwEqkGfKQMQndUYMIeZXFHmZ0DrHIJhGS6kKiDzkGUos9GzkpqG",
  ob_click_id: "v1-standinOutbrainClick",
  aref: "standinAmazonClick",
  _kx: "standin_kx-4711.StAnD1",
};
const cookies = {
  _fbp: "fb.1.1794297600000.1098115397",
  _ga: "GA1.1.1234567890.1794297600",
  _ttp: "standin_ttp_0123456789",
  _scid: "b1f2c3d4-0000-4000-8000-000000000001",
  _rdt_uuid: "1794297600000.7d2c9f10-aaaa-4bbb-8ccc-0123456789ab",
  _uetvid: "b171a9b06ce011ecafcd1b209be8601b",
  __obref: "ob-standin-visitor",
  _axwrt: "ax-standin-visitor",
  __spdt: "spstandinvisitor",
  hubspotutk: "7d2c9f107d2c9f107d2c9f107d2c9f10",
};

let people = 0;
let orders = 0;

/** Reports the email of a new person, by default with the click ids of every platform; returns the email. */
async function visitor({ host }: TestSite, params: Record<string, string> = clicks): Promise<string> {
  people += 1;
  const email = `person${people}@customers.example`;
  const identified = { emails: [sha256Of(email)], params, cookies, page: `https://${host}/landing` };
  expect((await report(relay, host, "identify", identified)).status).toBe(204);
  return email;
}

type Result = { ok: boolean; status?: string; error?: string };

async function send(site: TestSite, platform: string, fields: Record<string, unknown>, key = site.key) {
  orders += 1;
  const orderId = `order-${orders}`;
  const answer = await relay.post(key, { event: "purchase", orderId, ...fields });
  expect(answer.status, answer.text).toBe(200);
  const { results } = JSON.parse(answer.text) as { results: Record<string, Result> };
  return { orderId, result: results[platform] };
}

const ok: Result = { ok: true };
/** The reasons for which the stand-in rejected the last call, shown when a test fails. */
const lastReasons = (handle: StandinHandle) =>
  JSON.stringify(handle.received.findLast((one) => one.kind === "events")?.reasons ?? []);

/** Retries, parking, consent, ages and test keys are the same for every platform over the wire: one platform shows them. */
const generic: StandinId = "meta";
const ids = list.map(({ id }) => id);

// Platforms at the same time: most of a test is waiting for a retry or for the relay to read a change. The tests of one
// platform follow each other.
describe.concurrent.each(ids)("the connection to the stand-in of %s", (id) => {
  describe("one after the other", { concurrent: false }, () => testConnection(id));
});

function testConnection(id: StandinId): void {
  const platform = platformOf(id) ?? expect.unreachable(id);
  const host = `${id.replace("_", "-")}.example`;
  let site: TestSite;
  let connectionId: string;
  let handle: StandinHandle;

  beforeAll(async () => {
    site = await home.addSite(host);
    handle = standins.of(id);
    ({
      connection: { id: connectionId },
    } = await connect({}));
    await eventually("the relay knows the connection", async () => {
      // A new order each time: a duplicate would not be sent to any platform.
      const orderId = randomUUID();
      const answer = await relay.post(site.key, {
        email: "first@customers.example",
        event: "hello",
        orderId,
      });
      return answer.text.includes(`"${id}"`);
    });
  });

  const wordsOf = (settings: Record<string, string>) => Object.entries(settings).map(([name, value]) => `${name}=${value}`);
  const connect = (changes: Record<string, string>, ...options: string[]) =>
    home.run("connection", "add", host, id, ...wordsOf({ ...standinConnections[id], ...changes }), ...options);

  const acceptedNow = () => handle.accepted.reduce((sum, { count }) => sum + count, 0);

  /** Sends an event, and expects the stand-in to have accepted exactly one more. */
  async function accepted(fields: Record<string, unknown>): Promise<void> {
    const before = acceptedNow();
    const { result } = await send(site, id, fields);
    expect(result, lastReasons(handle)).toEqual(ok);
    expect(acceptedNow(), lastReasons(handle)).toBe(before + 1);
  }

  test("a full event after a click is accepted", async () => {
    const email = await visitor(site);
    await accepted({
      email,
      value: 49.9,
      currency: "EUR",
      phone: "+14255551234",
      firstName: "Ada",
      lastName: "Lovelace",
    });
  });

  if (id === "google_ads")
    test("a warning of the platform is shown with the attempt that it accepted", async () => {
      const email = await visitor(site, { gclid: "STANDIN-WARNING" });
      const { orderId, result } = await send(site, id, { email, value: 5, currency: "EUR" });
      expect(result, lastReasons(handle)).toEqual(ok);
      const { items: events } = await home.run("event", "list", host, "--order", orderId);
      const warning = /warning: .*cart_data: The cart data is not used/;
      await eventually("the attempt is stored", async () => {
        const { deliveries } = await home.run("event", "show", events[0].id);
        return warning.test(deliveries[0].log[0]?.reason ?? "");
      });
      expect(await home.print("event", "show", events[0].id)).toMatch(warning);
    });

  if (id === generic) {
    test("an event after an opt-out is skipped", async () => {
      const email = await visitor(site);
      await home.run("consent", "set", host, "denied", "--email", email);
      const before = handle.received.length;
      const { result } = await send(site, id, { email, value: 5, currency: "USD" });
      const calls = JSON.stringify(handle.received.slice(before));
      for (const value of [sha256Of(email), ...Object.values(clicks)]) expect(calls).not.toContain(value);
      expect(result, lastReasons(handle)).toMatchObject({ status: "skipped", error: "opted out" });
    });

    test("an event of a day ago is accepted; one of 80 days ago is skipped as too old", async () => {
      const ago = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();
      const email = await visitor(site);
      await accepted({ email, eventTime: ago(1), value: 1, currency: "EUR" });
      const before = handle.received.length;
      const { result } = await send(site, id, { email, eventTime: ago(80), value: 1, currency: "EUR" });
      expect(result, lastReasons(handle)).toMatchObject({ status: "skipped" });
      expect(handle.received).toHaveLength(before);
    });

    test("an event with a test key is sent in test mode", async () => {
      const { key } = await home.run("key", "add", host, "test", "--test");
      await eventually("the relay knows the key", async () => {
        const answer = await relay.post(key, {});
        return answer.status === 400;
      });
      const before = acceptedNow();
      const { result } = await send(site, id, { email: await visitor(site), value: 9, currency: "EUR" }, key);
      expect(acceptedNow()).toBe(before + 1);
      expect(result, lastReasons(handle)).toEqual(ok);
      const { test_event_code: code } = standinConnections[generic];
      expect(JSON.stringify(handle.received.findLast((one) => one.kind === "events"))).toContain(code);
    });

    const isSent = (event: string) =>
      eventually("the event is sent", async () => (await home.run("event", "show", event)).deliveries[0].state === "sent");

    test("an event is retried after throttling, server errors, lost connections and garbled responses", async () => {
      const waiting: string[] = [];
      const before = acceptedNow();
      for (const kind of ["server_error", "reset", "malformed_json", "html", "throttle"] as const) {
        // Several times: a retry of an earlier event may come in between.
        handle.fault({ kind, times: 100, retryAfterSeconds: 1 });
        const { result, orderId } = await send(site, id, {
          email: await visitor(site),
          value: 3,
          currency: "EUR",
        });
        expect(result, `${kind}: ${lastReasons(handle)}`).toMatchObject({ ok: false, status: "queued" });
        handle.clearFaults();
        const { items: events } = await home.run("event", "list", host, "--order", orderId);
        if (kind === "throttle") {
          // Meta gives the wait in minutes, and is not called before.
          const { deliveries } = await home.run("event", "show", events[0].id);
          expect(deliveries[0].nextTryAt).toBeGreaterThan(Date.now() + 30_000);
        }
        waiting.push(events[0].id);
      }
      await eventually("all are accepted", () => acceptedNow() >= before + waiting.length);
      for (const event of waiting) await isSent(event);
      expect(acceptedNow()).toBe(before + waiting.length);
    });

    test("an event whose response was lost is sent again and counts once", async () => {
      handle.fault({ kind: "answer_lost", times: 1 });
      const { orderId } = await send(site, id, { email: await visitor(site), value: 4, currency: "EUR" });
      const { items: events } = await home.run("event", "list", host, "--order", orderId);
      await isSent(events[0].id);
      const twice = handle.accepted.filter(({ count }) => count > 1);
      for (const event of twice) expect(event).toMatchObject({ counted: 1 });
      handle.clearFaults();
    });

    test("a wrong token parks deliveries, and reconnecting sends them", async () => {
      await connect(revokedTokens[id], "--no-verify");
      const parked = await eventuallyParked();
      const trace = await home.run("event", "show", parked);
      expect(trace.deliveries[0].reason).toMatch(/^needs reconnection/);
      const { items: connections } = await home.run("connection", "list", host);
      expect(connections[0]).toMatchObject({ id: connectionId, state: "needs reconnection" });
      expect(await send(site, id, { email: await visitor(site), value: 2, currency: "EUR" })).toMatchObject({
        result: { ok: false, status: "parked" },
      });
      const before = acceptedNow();
      await connect({});
      await eventually("both events are sent", () => acceptedNow() >= before + 2);
    });

    test("a wrong token does not replace one that works, and connection set asks the platform too", async () => {
      const wrong = wordsOf({ ...standinConnections[id], ...revokedTokens[id] });
      const token = wordsOf(revokedTokens[id]);
      const refused = {
        code: "invalid",
        field: "settings",
        error: expect.stringMatching(
          /^Meta refuses the new credentials: Meta error 190.+\. The connection keeps its present ones\. Add --no-verify to save the new ones\.$/,
        ),
      };
      expect(await home.fails("connection", "add", host, id, ...wrong)).toEqual(refused);
      expect(await home.fails("connection", "set", connectionId, ...token)).toEqual(refused);
      expect(await home.exitCode("connection", "set", connectionId, ...token)).toBe(4);
      await accepted({ email: await visitor(site), value: 1, currency: "EUR" });

      const verified = { state: "verified", unchecked: "permission to send" };
      const changed = await home.run("connection", "set", connectionId, "map.custom_data.content_name=event");
      expect(changed).toMatchObject({ connection: { verification: verified, sendsNothing: null } });
      expect(await home.print("connection", "set", connectionId, "map.custom_data.content_name=")).toMatch(
        /\nVerified: Meta answered for this connection\./,
      );
      const unasked = await home.run("connection", "set", connectionId, ...token, "--no-verify");
      expect(unasked.connection.verification).toMatchObject({ state: "unverified" });
      const good = wordsOf({ access_token: standinConnections[id]["access_token"] ?? "" });
      expect((await home.run("connection", "set", connectionId, ...good)).connection.verification).toMatchObject(verified);
    });

    async function eventuallyParked(): Promise<string> {
      // The relay notices the changed token within a second; until then the old one still works.
      let parked = "";
      await eventually("a delivery is parked", async () => {
        const { orderId, result } = await send(site, id, {
          email: await visitor(site),
          value: 2,
          currency: "EUR",
        });
        if (result?.status !== "parked") return false;
        const { items: events } = await home.run("event", "list", host, "--order", orderId);
        parked = events[0].id;
        return true;
      });
      return parked;
    }
  }

  test("no token is in any URL or log, and click ids arrive unchanged", async () => {
    // The newest have every kind of attempt; while a token is changed there are hundreds of them.
    const { items: events } = await home.run("event", "list", host, "--limit", "50");
    const traces = await withStore(home, (store, directory) => {
      const context = { store, directory, version: "0.0.0" };
      return Promise.all(
        events.map(async (event: { id: string }) =>
          readTrace(context, (await findEventById(store, site.id, event.id)) ?? expect.unreachable()),
        ),
      );
    });
    const logged = JSON.stringify(traces) + relay.output();
    const secrets = platform.settings.filter(({ secret }) => secret).map(({ name }) => standinConnections[id][name]);
    for (const secret of secrets) if (secret) expect(logged).not.toContain(secret);
    const received = JSON.stringify(handle.received);
    const used = Object.entries(clicks).filter(([name]) => platform.ids?.includes(name));
    for (const [name, value] of used) expect(received, name).toContain(value);
  });

  test("connecting again to the same account changes the connection and adds none", async () => {
    const again = await connect({});
    expect(again).toMatchObject({ connection: { id: connectionId }, isNew: false });
  });

  test("a preview shows the exact request without its secrets", async () => {
    const preview = await home.run("connection", "preview", connectionId);
    if (preview.skipped) return;
    expect(preview.naming).toMatch(/^purchase is sent as .+: .+\.$/);
    expect(preview.request.method).toBe(id === "outbrain" ? "GET" : "POST");
    for (const { name, secret } of platform.settings)
      if (secret && standinConnections[id][name]) expect(JSON.stringify(preview)).not.toContain(standinConnections[id][name]);
  });

  test("pickers offer the accounts of the stand-in", async () => {
    for (const { setting } of platform.pickers ?? []) {
      // A token for events need not be allowed to list accounts.
      const token = `access_token=${knownAt(id, "accessToken")}`;
      const { items: choices } = await home.run("connection", "choices", host, id, setting, token);
      const chosen = standinConnections[id][setting];
      const values = choices.map(({ value }: { value: string }) => value);
      expect(values.length, setting).toBeGreaterThan(0);
      if (chosen) expect(values, setting).toContain(chosen);
    }
  });
}

test("every stand-in has the settings of a connection", () => {
  expect(ids.toSorted()).toEqual(Object.keys(standinConnections).toSorted());
  expect(knownAt("meta", "pixelId")).toMatch(/^\d+$/);
});
