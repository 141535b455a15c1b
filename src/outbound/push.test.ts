// Tests the parts that need no network: closing periods, building a push, and reading its answer.

import { Webhook } from "standardwebhooks";
import { describe, expect, test } from "vitest";
import type { Answer } from "../delivery/send.ts";
import type { Closing, PeriodHead } from "../store/outbound/periods.ts";
import { newSigningSecret } from "../kernel/ids.ts";
import { readAddress } from "../delivery/addresses.ts";
import { lastPeriodEnd, createCloser, periodToClose } from "./periods.ts";
import { excerpt, messageOf, pushRequest, readAnswer, type PushReading } from "./push.ts";
import { afterFailure } from "./worker.ts";
import { say, toJson } from "../kernel/messages/message.ts";

const inEnglish = (value: unknown): unknown => JSON.parse(toJson(value));

const now = Date.UTC(2026, 10, 15, 12, 7, 30);
const quarter = 15 * 60_000;
const noon = Date.UTC(2026, 10, 15, 12);
const head = (endsAt: number): PeriodHead => ({ siteId: "s", number: 4, endsAt });

describe("periods", () => {
  test("periods end at multiples of their length", () => {
    expect(lastPeriodEnd(now, quarter)).toBe(noon);
    expect(lastPeriodEnd(noon, quarter)).toBe(noon);
    expect(lastPeriodEnd(noon - 1, quarter)).toBe(noon - quarter);
  });

  test.each([
    ["no period is due when the last one has just ended", noon, null],
    [
      "one period is due when the last one ended a period ago",
      noon - quarter,
      { startsAt: noon - quarter, endsAt: noon, isAhead: false },
    ],
    [
      "a period that began between two regular ends is shorter",
      noon - 17_000,
      { startsAt: noon - 17_000, endsAt: noon, isAhead: false },
    ],
    [
      "one long period is due after days without a relay",
      noon - 200 * quarter,
      { startsAt: noon - 200 * quarter, endsAt: noon, isAhead: false },
    ],
    ["no period is due when the clock was set back a little", noon + quarter, null],
    [
      "the next period starts at the present time when the clock was set back far",
      noon + 9 * quarter,
      { startsAt: noon - quarter, endsAt: noon, isAhead: true },
    ],
  ])("%s", (_what, endsAt, due) => {
    expect(periodToClose(head(endsAt), now, quarter)).toEqual(due);
  });

  function setUp(first: PeriodHead) {
    const state = { head: first, now, elapsed: 0, closed: [] as Closing[] };
    const periods = {
      listHeads: async (before: number, after: number) =>
        state.head.endsAt < before || state.head.endsAt > after ? [state.head] : [],
      close: async (closing: Closing) => {
        state.closed.push(closing);
        state.head = { siteId: "s", number: closing.number + 1, endsAt: closing.endsAt };
        return null;
      },
    };
    const closeDue = createCloser({
      store: { periods } as never,
      pushMs: quarter,
      now: () => state.now,
      elapsed: () => state.elapsed,
      random: () => 0.5,
    });
    return { state, closeDue };
  }

  test("a period is closed once, and pushed a little later", async () => {
    const { state, closeDue } = setUp(head(noon - quarter));
    await closeDue();
    await closeDue();
    expect(state.closed).toEqual([{ siteId: "s", number: 4, startsAt: noon - quarter, endsAt: noon, now, dueAt: now + 5000 }]);
    state.now += quarter;
    await closeDue();
    expect(state.closed.map((one) => one.endsAt)).toEqual([noon, noon + quarter]);
  });

  test("a period that cannot be closed keeps no other site's from it", async () => {
    const closed: string[] = [];
    const defects: unknown[] = [];
    const closeDue = createCloser({
      store: {
        engine: "sqlite",
        periods: {
          listHeads: async () => ["a", "b", "c"].map((siteId) => ({ siteId, number: 4, endsAt: noon - quarter })),
          async close({ siteId }: Closing) {
            if (siteId === "b") throw new Error("its totals cannot be read");
            closed.push(siteId);
            return null;
          },
        },
      } as never,
      pushMs: quarter,
      now: () => now,
      elapsed: () => 0,
      random: () => 0.5,
      onDefect: (error, about) => defects.push([String(error), about]),
    });
    await closeDue();
    expect(closed).toEqual(["a", "c"]);
    expect(defects).toEqual([["Error: its totals cannot be read", { outbound: "closing", site: "b" }]]);
  });

  test("after the clock was set back by a day, periods are closed again one period later", async () => {
    const { state, closeDue } = setUp(head(noon + 96 * quarter));
    await closeDue();
    state.elapsed = quarter;
    await closeDue();
    expect(state.closed).toEqual([]);
    state.elapsed = quarter + 1;
    await closeDue();
    expect(state.closed).toMatchObject([{ number: 4, startsAt: noon - quarter, endsAt: noon }]);
  });

  test("a node whose clock is behind leaves periods to the node that closes them", async () => {
    const { state, closeDue } = setUp(head(noon + 96 * quarter));
    for (let i = 0; i < 10; i++) {
      await closeDue();
      state.elapsed += quarter;
      state.head = { ...state.head, number: state.head.number + 1, endsAt: state.head.endsAt + quarter };
    }
    expect(state.closed).toEqual([]);
  });
});

const [current, old] = [newSigningSecret(), newSigningSecret()];
const url = "https://receiver.example/hooks/T0K3N-in-path?key=qu3ry-s3cret";
const period = {
  siteId: "s",
  number: 7,
  startsAt: noon - quarter,
  endsAt: noon,
  conversions: 12,
  removed: 34,
  closedAt: noon,
};
const steady = { url, secrets: { current, previous: null } };
const rotating = { url, secrets: { current, previous: { secret: old, until: now + 1 } } };

describe("a push request", () => {
  test("a push request contains exactly these headers and this body", () => {
    const signature = new Webhook(current).sign("push_w1_7", new Date(now), '{"conversions":12,"bot_traffic_removed":34}');
    expect(pushRequest(steady, current, messageOf("w1", period), now)).toEqual({
      method: "POST",
      url,
      headers: {
        authorization: `Bearer ${current}`,
        "content-type": "application/json",
        "user-agent": "Cleancast",
        "webhook-id": "push_w1_7",
        "webhook-timestamp": String(now / 1000),
        "webhook-signature": signature,
        "x-cc-period": "2026-11-15T11:45:00.000Z/2026-11-15T12:00:00.000Z",
      },
      body: '{"conversions":12,"bot_traffic_removed":34}',
    });
  });

  test("during a rotation a request is signed with both secrets, the new one first; afterwards with one", () => {
    const signatures = (at: number) =>
      pushRequest(rotating, current, messageOf("w1", period), at).headers["webhook-signature"]?.split(" ");
    const both = [current, old].map((secret) =>
      new Webhook(secret).sign("push_w1_7", new Date(now), '{"conversions":12,"bot_traffic_removed":34}'),
    );
    expect(signatures(now)).toEqual(both);
    expect(signatures(now + 1)).toHaveLength(1);
  });

  test("a secret is whsec_ and the base64 of 32 random bytes", () => {
    expect(current).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(current).not.toBe(old);
  });
});

const answered = (status: number, body = "", headers: Record<string, string> = {}): Answer => ({
  ok: true,
  response: { status, headers, body },
});
const request = pushRequest(rotating, current, messageOf("w1", period), now);

describe("a receiver's answer", () => {
  test.each([200, 201, 202, 204, 299])("HTTP %i is a success", (status) => {
    expect(inEnglish(readAnswer(request, answered(status), now))).toMatchObject({ ok: true, error: null });
  });

  test.each([
    [301, "HTTP 301: redirects are not followed"],
    [307, "HTTP 307: redirects are not followed"],
    [400, "HTTP 400"],
    [401, "HTTP 401"],
    [410, "HTTP 410: gone"],
    [500, "HTTP 500"],
  ])("HTTP %i is a failure", (status, error) => {
    expect(inEnglish(readAnswer(request, answered(status), now))).toMatchObject({
      ok: false,
      httpStatus: status,
      error,
    });
  });

  test("a missing answer is a failure with its reason", () => {
    const sent: Answer = { ok: false, code: "other", error: "connection refused" };
    expect(readAnswer(request, sent, now)).toMatchObject({
      ok: false,
      httpStatus: null,
      error: "connection refused",
    });
  });

  test("the excerpt of an answer contains none of our secrets, whether plain, escaped or URL-encoded", () => {
    const signature = request.headers["webhook-signature"] ?? "";
    const texts = [
      `Authorization: Bearer ${current}`,
      JSON.stringify({ authorization: current }).replaceAll("/", "\\/"),
      encodeURIComponent(current),
      current.replace("whsec_", ""),
      signature,
      url,
    ];
    for (const text of texts) {
      const shown = excerpt(text, request);
      expect(shown).not.toContain(current.slice(6, 30));
      for (const one of signature.split(" ")) expect(shown).not.toContain(one.slice(3));
      expect(shown).not.toMatch(/T0K3N|qu3ry/);
    }
  });

  test("a secret at the edge of the excerpt is removed before the text is cut", () => {
    expect(excerpt(`${"x".repeat(290)}${current}`, request)).not.toContain("whsec_");
  });

  test("the excerpt is bounded and cannot act on a terminal or a page", () => {
    const hostile = `\u001b]0;owned\u0007\u001b[2J\0\r\n\u202Egnp.exe\u2028\uD800${"é".repeat(9999)}`;
    const shown = excerpt(hostile, request);
    expect(shown).toMatch(/^\\u001b\]0;owned\\u0007\\u001b\[2J\\u0000\\u000d\\u000a\\u202egnp\.exe\\u2028\uFFFDé/);
    expect(shown.length).toBeLessThan(400);
    expect(shown).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  });
});

describe("after a failed push", () => {
  const scheduleMs = [5, 300, 1800, 7200, 18_000, 36_000, 36_000].map((seconds) => seconds * 1000);
  const failed = (more: Partial<PushReading> = {}): PushReading => ({
    ok: false,
    httpStatus: 500,
    error: "HTTP 500",
    response: "",
    retryAfterSeconds: 0,
    ...more,
  });
  const after = (failures: number, failingSince: number | null, reading = failed(), random = 0.5) =>
    afterFailure(reading, { failures, failingSince }, { scheduleMs, random: () => random }, now);

  test("a failed push is retried after 5 s, 5 m, 30 m, 2 h, 5 h, 10 h, and then every 10 h", () => {
    const waits = Array.from({ length: 10 }, (_, i) => (after(i, now).dueAt - now) / 1000);
    expect(waits).toEqual([5, 300, 1800, 7200, 18_000, 36_000, 36_000, 36_000, 36_000, 36_000]);
  });

  test("retries have a jitter of a fifth in both directions", () => {
    expect(after(1, now, failed(), 0).dueAt - now).toBe(240_000);
    expect(after(1, now, failed(), 1).dueAt - now).toBe(360_000);
  });

  test("a receiver can ask for a longer delay, up to 10 hours", () => {
    expect(after(0, null, failed({ httpStatus: 429, retryAfterSeconds: 60 })).dueAt - now).toBe(60_000);
    expect(after(0, null, failed({ retryAfterSeconds: 1 })).dueAt - now).toBe(5000);
    expect(after(0, null, failed({ retryAfterSeconds: 10 ** 9 })).dueAt - now).toBe(36_000_000);
  });

  test("failures in a row are counted from the first one", () => {
    expect(after(0, null)).toMatchObject({ failures: 1, failingSince: now, disabled: null });
    expect(after(3, now - 9)).toMatchObject({ failures: 4, failingSince: now - 9 });
  });

  test("HTTP 410 disables a webhook immediately", () => {
    expect(after(0, null, failed({ httpStatus: 410 })).disabled).toBe("the receiver answered 410 Gone");
  });

  const days = (n: number) => now - n * 86_400_000;

  test("five days of failures disable a webhook, with the last error as the reason", () => {
    expect(after(20, days(5) + 1).disabled).toBeNull();
    expect(after(20, days(5)).disabled).toBe(say("failed_for_days", { reason: "HTTP 500" }));
  });

  test("a relay that was itself off for a week keeps retrying", () => {
    expect(after(1, days(7)).disabled).toBeNull();
  });
});

describe("an entered address", () => {
  const none = { hosts: new Set<string>(), networks: [] };

  test("an entered address is kept unchanged, without its fragment", () => {
    expect(readAddress(none, " https://example.com/hook?x=1#top ")).toEqual({
      url: "https://example.com/hook?x=1",
    });
  });

  test.each([
    ["", /must be an address like https/],
    ["example.com/hook", /must be an address like https/],
    ["ftp://example.com/", /must be an address like https/],
    ["javascript:alert(1)", /must be an address like https/],
    ["http://example.com/", /must use https/],
    ["https://user:s3cret@example.com/", /must not contain a user name or password/],
    ["https://127.0.0.1/s3cret", /leads to a private address/],
    [`https://example.com/${"s3cret".repeat(400)}`, /longer than 2048 characters/],
  ])("the address %j is refused with a sentence that does not repeat it", (text, sentence) => {
    const read = readAddress(none, text);
    expect(inEnglish(read)).toEqual({ fault: expect.stringMatching(sentence) });
    expect(JSON.stringify(read)).not.toContain("s3cret");
  });
});
