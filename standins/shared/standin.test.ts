// Tests that apply to every stand-in, run on Google's: routes, the log, faults and the control paths.

import { describe, expect, test } from "vitest";
import { runStandin, startTime } from "./testCalls.ts";
import { googleAds } from "../google_ads/index.ts";
import { standins } from "../index.ts";
import { startStandins } from "./start.ts";

const { known } = googleAds;
const { running, handle: google, advance } = await runStandin("google_ads");

const event = (transactionId = "ord-1") => ({
  eventTimestamp: "2026-11-14T09:30:00Z",
  transactionId,
  eventSource: "WEB",
  adIdentifiers: { gclid: "EXAMPLE_GCLID" },
});

async function ingest(events: unknown[] = [event()], token: string = known.accessToken) {
  const answer = await fetch(`${google.origin}/v1/events:ingest?alt=json&access_token=hush`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({
      destinations: [
        {
          operatingAccount: { accountType: "GOOGLE_ADS", accountId: known.directCustomerId },
          productDestinationId: known.directConversionActionId,
        },
      ],
      events,
    }),
  });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
}

describe("the list", () => {
  test("every stand-in has a unique id and known values", () => {
    const ids = standins.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { id, known: credentials } of standins) {
      expect(Object.keys(credentials).length, id).toBeGreaterThan(0);
    }
  });

  test("asking for a stand-in that was not started throws an error", () => {
    expect(() => running.of("unknown" as "google_ads")).toThrow("The stand-in unknown was not started.");
  });
});

describe("the log", () => {
  test("a call is logged with its verdict and without its secrets", async () => {
    await ingest();
    expect(google.received).toHaveLength(1);
    expect(google.received[0]).toMatchObject({
      at: startTime,
      kind: "events",
      method: "POST",
      path: "/v1/events:ingest?alt=json&access_token=configured",
      headers: { authorization: "configured", "content-type": "application/json" },
      body: { events: [event()] },
      status: 200,
      verdict: "accepted",
      reasons: [],
    });
    expect(JSON.stringify(google.received)).not.toContain(known.accessToken);
    expect(JSON.stringify(google.received)).not.toContain("hush");
  });

  test("a repeated event is accepted again and counts once", async () => {
    await ingest([event("a"), event("b")]);
    await ingest([event("a")]);
    expect(google.accepted.map(({ id, count, counted }) => ({ id, count, counted }))).toEqual([
      { id: "b", count: 1, counted: 1 },
      { id: "a", count: 2, counted: 1 },
    ]);
    expect(google.accepted[1]?.event).toEqual(event("a"));
  });

  test("a rejected call has a reason", async () => {
    expect((await ingest([{ ...event(), eventSource: "TV" }])).status).toBe(400);
    expect(google.received[0]).toMatchObject({ verdict: "rejected", status: 400 });
    expect(google.received[0]?.reasons[0]).toContain("events.events[0].event_source");
    expect(google.accepted).toEqual([]);
  });

  test("an unknown URL is rejected in the platform's format, and logged", async () => {
    const answer = await fetch(`${google.origin}/v1/nothing`);
    expect(answer.status).toBe(404);
    expect(await answer.json()).toMatchObject({ error: { status: "NOT_FOUND" } });
    expect(google.received[0]).toMatchObject({ kind: "unknown", verdict: "rejected" });
  });

  test("the log is bounded", async () => {
    for (let sent = 0; sent < 1010; sent++) await fetch(`${google.origin}/nothing/${sent}`).then((one) => one.text());
    expect(google.received).toHaveLength(1000);
    expect(google.received[0]?.path).toBe("/nothing/10");
  });

  test("a reset clears everything", async () => {
    await ingest();
    google.fault({ kind: "throttle", times: 5 });
    google.expireTokens();
    google.reset();
    expect(google.received).toEqual([]);
    expect(google.accepted).toEqual([]);
    expect((await ingest()).status).toBe(200);
  });
});

describe("faults", () => {
  test("a throttle has the platform's own format and fails only the given number of calls", async () => {
    google.fault({ kind: "throttle", times: 2, retryAfterSeconds: 7 });
    const first = await ingest();
    expect(first.status).toBe(429);
    expect(JSON.parse(first.text)).toMatchObject({
      error: {
        status: "RESOURCE_EXHAUSTED",
        details: [{ reason: "RATE_LIMIT_EXCEEDED" }, { retryDelay: "7s" }],
      },
    });
    expect((await ingest()).status).toBe(429);
    expect((await ingest()).status).toBe(200);
    expect(google.received.map(({ verdict, reasons }) => [verdict, ...reasons])).toEqual([
      ["rejected", "fault: throttle"],
      ["rejected", "fault: throttle"],
      ["accepted"],
    ]);
  });

  test("a server error, an expired and a revoked token have the platform's own format, one after the other", async () => {
    google.fault([{ kind: "server_error", status: 503 }, { kind: "expired_token" }, { kind: "revoked_token" }]);
    const answers = [await ingest(), await ingest(), await ingest()];
    expect(answers.map(({ status, text }) => [status, JSON.parse(text).error.status])).toEqual([
      [503, "UNAVAILABLE"],
      [401, "UNAUTHENTICATED"],
      [401, "UNAUTHENTICATED"],
    ]);
    expect(google.accepted).toEqual([]);
  });

  test("malformed JSON and an HTML page replace the JSON response", async () => {
    google.fault([{ kind: "malformed_json" }, { kind: "html" }]);
    const [broken, page] = [await ingest(), await ingest()];
    expect(() => JSON.parse(broken.text)).toThrow();
    expect([broken.status, page.status, page.headers.get("content-type")]).toEqual([200, 502, "text/html; charset=utf-8"]);
  });

  test("a cut connection accepts nothing; a lost response has accepted everything", async () => {
    google.fault([{ kind: "reset" }, { kind: "answer_lost" }]);
    await expect(ingest([event("cut")])).rejects.toThrow();
    await expect(ingest([event("lost")])).rejects.toThrow();
    expect(google.accepted.map(({ id }) => id)).toEqual(["lost"]);
    expect(google.received.map(({ status, verdict, reasons }) => [status, verdict, ...reasons])).toEqual([
      [null, "rejected", "fault: reset"],
      [200, "accepted", "fault: answer_lost"],
    ]);
  });

  test("a server error can hide that the call was processed", async () => {
    google.fault({ kind: "server_error", processed: true });
    expect((await ingest()).status).toBe(500);
    expect(google.accepted).toHaveLength(1);
  });

  test("a slow response is the usual one, late, and the call is processed at once", async () => {
    google.fault({ kind: "slow", ms: 2000 });
    let isAnswered = false;
    const answer = ingest().finally(() => (isAnswered = true));
    await expect.poll(() => google.accepted.length, { interval: 5 }).toBe(1);
    expect(isAnswered).toBe(false);
    expect((await answer).status).toBe(200);
  });

  test("a probability hits the same calls again with the same seed", async () => {
    const run = async (seed: number) => {
      google.reset();
      google.fault({ kind: "server_error", probability: 0.4, seed });
      const statuses = [];
      for (let sent = 0; sent < 30; sent++) statuses.push((await ingest()).status);
      return statuses;
    };
    const first = await run(7);
    expect(await run(7)).toEqual(first);
    expect(await run(8)).not.toEqual(first);
    expect(first.filter((status) => status === 500).length).toBeGreaterThan(4);
    expect(first.filter((status) => status === 200).length).toBeGreaterThan(10);
  });

  test("a documented error is answered by its title, and changes nothing", async () => {
    const [documented] = googleAds.documentedErrors;
    google.fault({ kind: "documented", title: documented?.title ?? "" });
    const answer = await ingest();
    expect([answer.status, JSON.parse(answer.text)]).toEqual([documented?.answer.status, documented?.answer.body]);
    expect(google.accepted).toEqual([]);
    google.fault({ kind: "documented", title: "no such title" });
    expect(await ingest()).toMatchObject({ status: 599, text: expect.stringContaining("no such title") });
  });

  test("a fault hits one kind of call", async () => {
    google.fault({ kind: "server_error", on: "token" });
    expect((await ingest()).status).toBe(200);
    expect((await fetch(`${google.origin}/token`, { method: "POST" })).status).toBe(500);
  });

  test("closing does not wait for slow responses", async () => {
    const other = await startStandins({ only: ["google_ads"] });
    other.of("google_ads").fault({ kind: "slow", ms: 60_000, on: "token" });
    const hanging = fetch(`${other.origins.google_ads}/token`, { method: "POST" }).catch(() => "cut");
    await expect.poll(() => other.of("google_ads").received.length).toBe(1);
    await other.close();
    expect(await hanging).toBe("cut");
  });
});

describe("the control paths", () => {
  const control = (method: string, path: string, body?: unknown) =>
    fetch(`${google.origin}/__standin/${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });

  test("another process can script faults, read the log and reset", async () => {
    expect((await control("POST", "fault", { kind: "throttle", times: 9 })).status).toBe(200);
    expect((await ingest()).status).toBe(429);
    await control("DELETE", "fault");
    await ingest();
    const log = (await (await control("GET", "log")).json()) as { received: unknown[]; accepted: unknown[] };
    expect(log.received).toHaveLength(2);
    expect(log.accepted).toMatchObject([{ id: "ord-1", count: 1 }]);
    expect(JSON.stringify(log)).not.toContain(known.accessToken);
    await control("POST", "reset");
    expect(google.received).toEqual([]);
  });

  test("tokens can be expired or revoked", async () => {
    await control("POST", "tokens", { state: "expired" });
    const expired = await ingest();
    await control("POST", "tokens", { state: "revoked" });
    const revoked = await ingest();
    const reasons = [expired, revoked].map(({ text }) => JSON.parse(text).error.details[0].reason as string);
    expect(reasons).toEqual(["ACCESS_TOKEN_EXPIRED", "ACCESS_TOKEN_TYPE_UNSUPPORTED"]);
    expect((await control("POST", "tokens", { state: "odd" })).status).toBe(400);
  });

  test.each([
    [{ kind: "earthquake" }, /^kind must be one of throttle, /],
    [{ kind: "slow", ms: "10" }, /^ms must be a number from 0$/],
    [{ kind: "slow", on: "monday" }, /^on must be one of events, /],
    [{ kind: "slow", delay: 10 }, /^delay is not a part of a fault$/],
    [{ kind: "documented" }, /^title must be/],
    [{ kind: "slow", title: "x" }, /^title must be/],
    [{ kind: "reset", processed: 1 }, /^processed must be true or false$/],
    ["throttle", /^a fault is an object/],
  ])("an invalid script is rejected: %j", async (script, why) => {
    const answer = await control("POST", "fault", script);
    expect(answer.status).toBe(400);
    expect(((await answer.json()) as { error: string }).error).toMatch(why);
  });

  test("an unknown control path is not found", async () => {
    expect((await control("GET", "everything")).status).toBe(404);
  });
});

describe("quotas", () => {
  test("beyond the platform's rate a call is throttled until the window ends", async () => {
    for (let sent = 0; sent < 300; sent++) expect((await ingest()).status).toBe(200);
    const throttled = await ingest();
    expect(throttled.status).toBe(429);
    expect(throttled.text).toContain('"retryDelay":"60s"');
    advance(60_000);
    expect((await ingest()).status).toBe(200);
  });

  test("rate limits can be switched off", async () => {
    const other = await startStandins({ only: ["google_ads"], rateLimits: false });
    const call = () =>
      fetch(`${other.origins.google_ads}/v1/requestStatus:retrieve`, {
        headers: { authorization: `Bearer ${known.accessToken}` },
      });
    for (let sent = 0; sent < 305; sent++) expect((await call()).status).toBe(400);
    await other.close();
  });
});
