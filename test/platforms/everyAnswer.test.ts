// Walks every platform, against its stand-in and with the real delivery code: every documented answer, scripted faults, lost
// answers, tokens that no longer work, and batches with one invalid event.

import { describe, expect, test } from "vitest";
import { revokedTokens, standinConnections } from "../../scripts/standinConnections.ts";
import type { Conversion, Reading } from "../../src/kernel/event.ts";
import { dayMs } from "../../src/kernel/time.ts";
import { platformOf } from "../../src/platforms/index.ts";
import type { PlatformResponse } from "../../src/platforms/platform.ts";
import { standins as list, type StandinId } from "../../standins/index.ts";
import type { Fault } from "../../standins/shared/faults.ts";
import { sha256 } from "../support/sha256.ts";
import { acceptedAt, connectionOf, lastReasons, createStandinDelivery } from "./standinDelivery.ts";

/** Platforms that drop an invalid event without an error, or take one event in a request. */
const withoutBatchErrors = new Set<string>(["ga4", "segment", "nextdoor", "taboola", "outbrain", "klaviyo"]);
/** Platforms whose answer does not show that a token is wrong, or that have none. */
const withoutTokenErrors = new Set<string>(["ga4", "segment", "taboola", "outbrain"]);
/** Platforms that throttle without saying how long. */
const withoutWait = new Set<string>(["tiktok", "linkedin", "pinterest", "snapchat", "reddit"]);
/** Platforms that answer HTTP 200 or 204 to requests that they do not accept. */
const errorsInSuccess = new Set<string>(["tiktok", "segment", "ga4"]);
/** Platforms that take larger requests than are sent to them; the tests of their stand-ins have the limit. */
const smallerBatches = new Set<string>(["segment", "linkedin", "spotify", "quora"]);
/** Platforms whose success has no body. */
const withoutBody = new Set<string>(["ga4", "segment"]);

const { clock, standins, conversionOf, delivery } = await createStandinDelivery();

describe.each(list.map((standin) => [standin.id, standin] as const))("%s", (id, standin) => {
  const platform = platformOf(id) ?? expect.unreachable(id);
  const handle = standins.of(id);
  const { settings } = connectionOf(id);

  /** Sends one request past the delivery code. */
  async function call(conversions: readonly Conversion[], otherBody?: string): Promise<PlatformResponse> {
    const { method, url, headers, body, secretQuery = {} } = platform.toRequest(conversions, settings, clock.now);
    const to = new URL(url);
    for (const [name, value] of Object.entries(secretQuery)) to.searchParams.set(name, value);
    const sent = { method, headers, ...(method === "GET" ? {} : { body: otherBody ?? body }) };
    const answer = await fetch(`${handle.origin}${to.pathname}${to.search}`, sent);
    return { status: answer.status, headers: Object.fromEntries(answer.headers), body: await answer.text() };
  }

  /** Sends a conversion once, and returns how the answer is read. */
  async function readingUnder(fault: Fault): Promise<Reading> {
    const conversions = [conversionOf()];
    handle.fault(fault);
    const response = await call(conversions);
    handle.clearFaults();
    // X gives the time at which it may be called again, by the clock of the machine.
    return platform.readResponse(response, conversions, settings, Date.now())[0] ?? expect.unreachable("no reading");
  }

  test("a request without an event, with more than the maximum, or with a body that is no request, is not accepted", async () => {
    const before = acceptedAt(handle);
    const answers = [];
    const counts = platform.batch === 1 ? [] : smallerBatches.has(id) ? [0] : [0, platform.batch + 1];
    for (const count of counts) answers.push(await call(Array.from({ length: count }, () => conversionOf())));
    if (id !== "outbrain") for (const body of ["{", "", "[]", "null", '"text"']) answers.push(await call([conversionOf()], body));
    for (const { status, body } of answers) {
      expect(status, body.slice(0, 300)).toBeLessThan(500);
      if (!errorsInSuccess.has(id)) expect(status, body.slice(0, 300)).toBeGreaterThanOrEqual(400);
    }
    expect(acceptedAt(handle)).toBe(before);
    expect((await fetch(`${handle.origin}/no/such/path`)).status).toBeGreaterThanOrEqual(400);
  });

  test("throttling names the time to wait, errors of the server are retried, and tokens that end are unauthorized", async () => {
    const throttled = await readingUnder({ kind: "throttle", retryAfterSeconds: 9 });
    // Meta gives the wait in minutes.
    const seconds = { meta: 60, x: expect.closeTo(9, -0.5) }[id as string] ?? 9;
    const wait = withoutWait.has(id) ? {} : { retryAfterSeconds: seconds };
    // What the status does not say, the reading does: the connection is not called over and over.
    const ofPlatform = id === "meta" || id === "tiktok" ? { ofPlatform: true } : {};
    expect(throttled).toEqual({ kind: "retry", error: expect.any(String), ...wait, ...ofPlatform });
    for (const status of [500, 503]) expect((await readingUnder({ kind: "server_error", status })).kind).toBe("retry");
    for (const kind of withoutTokenErrors.has(id) ? [] : (["expired_token", "revoked_token"] as const))
      expect((await readingUnder({ kind })).kind, kind).toBe("unauthorized");
  });

  test("an event is retried after throttling, server errors, lost connections and garbled responses, and counts once", async () => {
    const { deliver } = delivery(id);
    for (const kind of ["throttle", "server_error", "reset", "malformed_json", "html"] as const) {
      if (kind === "malformed_json" && withoutBody.has(id)) continue;
      const conversion = conversionOf();
      const before = acceptedAt(handle);
      handle.fault({ kind, retryAfterSeconds: 1 });
      const [first] = await deliver([conversion], 1);
      expect(first?.state, kind).toBe("queued");
      handle.clearFaults();
      const [second] = await deliver([conversion], 1);
      expect([second?.state, acceptedAt(handle) - before], `${kind}: ${lastReasons(handle)}`).toEqual(["sent", 1]);
    }
  });

  test("an event whose response was lost is sent again and counts once", async () => {
    const before = handle.accepted.length;
    handle.fault({ kind: "answer_lost" });
    const { deliver } = delivery(id);
    const [conversion, at] = [conversionOf(), clock.now];
    await deliver([conversion], 1);
    handle.clearFaults();
    // Axon recognises repeats for a few minutes only.
    clock.now = at + 1000;
    const [outcome] = await deliver([conversion], 1);
    expect(outcome?.state, lastReasons(handle)).toBe("sent");
    const taken = handle.accepted.slice(before);
    expect(taken).toHaveLength(1);
    // Google Analytics has no general deduplication, and HubSpot documents none.
    expect(taken[0]).toMatchObject({ count: 2, counted: id === "ga4" || id === "hubspot" ? expect.any(Number) : 1 });
  });

  test("a wrong token parks deliveries, and the right one sends them", async () => {
    if (withoutTokenErrors.has(id)) return;
    const { deliver, reconnections, change } = delivery(id, revokedTokens[id]);
    const conversion = conversionOf();
    const before = acceptedAt(handle);
    const [parked] = await deliver([conversion], 1);
    expect([parked?.state, acceptedAt(handle) - before]).toEqual(["parked", 0]);
    expect(reconnections).toHaveLength(1);
    change(standinConnections[id]);
    const [sent] = await deliver([conversion], 1);
    expect([sent?.state, acceptedAt(handle) - before], lastReasons(handle)).toEqual(["sent", 1]);
  });

  test("one invalid event of a batch is rejected, and the others are sent once each", async () => {
    if (withoutBatchErrors.has(id)) return;
    const bad = await findInvalid();
    const batch = [conversionOf(), conversionOf(), bad(), conversionOf(), conversionOf()];
    const before = acceptedAt(handle);
    const { deliver, reconnections } = delivery(id);
    const states = (await deliver(batch, 5)).map(({ state }) => state);
    expect(states, lastReasons(handle)).toEqual(["sent", "sent", "rejected", "sent", "sent"]);
    expect(acceptedAt(handle) - before).toBe(4);
    expect(reconnections).toEqual([]);
  });

  /** Finds an event that the platform rejects when it is alone. */
  async function findInvalid(): Promise<() => Conversion> {
    const plain = sha256("jane@example.com");
    const person = { emailSha256: plain, emailRedditSha256: plain };
    const tooLate = () => {
      const time = clock.now - 8 * dayMs;
      return conversionOf({ time, receivedAt: time + 1000 });
    };
    const candidates = [() => conversionOf({ person }), () => conversionOf({ time: clock.now - 200 * dayMs }), tooLate];
    for (const candidate of candidates) {
      const [outcome] = await delivery(id).deliver([candidate()], 1);
      if (outcome?.state === "rejected") return candidate;
    }
    return expect.unreachable(`the stand-in of ${id} rejects no event`);
  }

  test("the stand-in has the documented errors of the platform", () => {
    expect(standin.documentedErrors?.length ?? 0).toBeGreaterThan(0);
    const titles = standin.documentedErrors?.map(({ title }) => title) ?? [];
    expect(new Set(titles).size).toBe(titles.length);
  });

  const meanings = {
    accept: { state: "sent", isParked: false },
    retry: { state: "queued", isParked: false },
    wait: { state: "queued", isParked: false },
    park: { state: "parked", isParked: true },
    reject: { state: "rejected", isParked: false },
  };

  test.each(standin.documentedErrors?.map((one) => [one.title, one.means] as const) ?? [])(
    "the documented answer %s means: %s",
    async (title, means) => {
      handle.fault({ kind: "documented", title });
      const { deliver, reconnections } = delivery(id);
      const [outcome] = await deliver([conversionOf()], 1);
      handle.clearFaults();
      const { state, isParked } = meanings[means];
      expect(outcome?.state, outcome?.reason ?? "").toBe(state);
      expect(reconnections).toHaveLength(isParked ? 1 : 0);
      const waits = expect.stringMatching(/waits until .* is corrected$/);
      if (means === "wait") expect(outcome?.reason).toEqual(waits);
      else expect(outcome?.reason ?? "").not.toEqual(waits);
    },
  );
});

describe("an event with several targets", () => {
  const cases: [id: StandinId, targets: readonly string[]][] = [
    ["google_ads", ["7700000001", "7700000005"]],
    ["cm360", ["4400001", "4400002"]],
    ["linkedin", ["555001", "555002"]],
    ["reddit", ["LEAD", "Quote requested"]],
    ["x", ["tw-o8z6j-o87ne", "o87nf"]],
  ];

  test.each(cases)("%s counts it for each of %j, and once for each when it is sent again", async (id, targets) => {
    const handle = standins.of(id);
    const before = handle.accepted.length;
    const { deliver } = delivery(id, { "event.lead": targets.join(",") });
    const leads = [conversionOf({ name: "generate_lead" }), conversionOf({ name: "Lead Captured" })];
    for (let times = 0; times < 2; times++) {
      const outcomes = await deliver(leads, 1);
      expect(
        outcomes.map(({ state }) => state),
        lastReasons(handle),
      ).toEqual(["sent", "sent"]);
    }
    const accepted = handle.accepted.slice(before);
    expect(accepted).toHaveLength(targets.length * 2);
    for (const one of accepted) expect(one).toMatchObject({ count: 2, counted: 1 });
  });

  test.each(cases)("%s: an invalid one of a batch takes no other with it", async (id, targets) => {
    const { deliver } = delivery(id, {
      "event.lead": targets.join(","),
      enhanced_conversions_for_leads: "on",
    });
    const plain = sha256("jane@example.com");
    const bad = conversionOf({
      name: "lead",
      person: { emailSha256: plain, emailRedditSha256: plain },
      // Campaign Manager 360 gets no contact data.
      ...(id === "cm360" ? { time: clock.now - 40 * dayMs } : {}),
    });
    const batch = [conversionOf({ name: "lead" }), bad, conversionOf({ name: "lead" })];
    const states = (await deliver(batch, 5)).map(({ state }) => state);
    expect(states, lastReasons(standins.of(id))).toEqual(["sent", "rejected", "sent"]);
  });
});
