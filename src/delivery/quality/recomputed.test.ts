// Recomputes coverage and score from the requests themselves: a field that is in the body was sent. Which field carries which key is
// written down here again, from the platforms' documentation, and nothing of the product's own way to find keys is used.

import { describe, expect, test } from "vitest";
import { standinConnections } from "../../../scripts/standinConnections.ts";
import type { StandinId } from "../../../standins/index.ts";
import type { Conversion } from "../../kernel/event.ts";
import type { MatchKey } from "../../kernel/quality.ts";
import { platformOf } from "../../platforms/index.ts";
import { fullPerson, fullSample } from "../../platforms/shared/sample.ts";
import { sentKeys } from "./matchKeys.ts";
import { scoreMatch } from "./score.ts";

const now = Date.UTC(2026, 10, 15, 12);
const count = 200;
const clickedAt = Math.floor(now / 1000) - 3600;

type Fields = Partial<Record<MatchKey, RegExp>>;

const socialFields: Fields = {
  email: /"em":\["[0-9a-f]{64}"/,
  phone: /"ph":\["[0-9a-f]{64}"/,
  name: /"(?:fn|ln)":\["[0-9a-f]{64}"/,
  "address and user agent": /"client_(?:ip_address|user_agent)":"./,
};

/** The fields of a request by the key that they carry, and the cookie in which the platform's script keeps the click. */
const platforms: readonly [StandinId, Fields, cookie: Record<string, string>][] = [
  [
    "meta",
    { ...socialFields, "click id": /"fbc":"./, "browser id": /"fbp":"./ },
    { _fbc: `fb.1.${clickedAt}000.IwAR2F4-Example_Click` },
  ],
  ["snapchat", { ...socialFields, "click id": /"sc_click_id":"./, "browser id": /"sc_cookie1":"./ }, {}],
  ["pinterest", { ...socialFields, "click id": /"click_id":"./ }, { _epik: "dj0yJnU9ZXhhbXBsZQ" }],
  [
    "tiktok",
    {
      email: /"email":"[0-9a-f]{64}"/,
      phone: /"phone":"[0-9a-f]{64}"/,
      name: /"(?:first|last)_name":"[0-9a-f]{64}"/,
      "click id": /"ttclid":"./,
      "browser id": /"ttp":"./,
      "address and user agent": /"(?:ip|user_agent)":"./,
    },
    {},
  ],
  [
    "linkedin",
    { email: /"SHA256_EMAIL"/, "click id": /"LINKEDIN_FIRST_PARTY_ADS_TRACKING_UUID"/ },
    { li_fat_id: "a3b1f0c2-9d4e-4f6a-8b7c-1d2e3f4a5b6c" },
  ],
  [
    "google_ads",
    { "click id": /"gclid":"./, "address and user agent": /"landingPageDeviceInfo":\{"userAgent":"./ },
    { _gcl_aw: `GCL.${clickedAt}.EAIaIQobChMI-Example_1` },
  ],
];

/** Numbers that look random, and are the same in every run. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

function createConversions(cookie: Record<string, string>): Conversion[] {
  const random = createRandom(4711);
  const has = (share: number) => random() < share;
  return Array.from({ length: count }, () => {
    const full = fullSample({ time: now, receivedAt: now });
    const { phoneSha256, phoneDigitsSha256, firstNameSha256, lastNameSha256, ...email } = fullPerson;
    const person = {
      ...email,
      ...(has(0.6) && { phoneSha256, phoneDigitsSha256 }),
      ...(has(0.4) && { firstNameSha256, lastNameSha256 }),
    };
    // The click may be known from the address, from the cookie, from both or not at all.
    const clickIds = has(0.5) ? full.clickIds : {};
    const browserIds = { ...(has(0.5) && full.browserIds), ...(has(0.5) && cookie) };
    const withheld = has(0.1);
    const conversion = { ...full, person, clickIds, browserIds, browser: has(0.7) ? full.browser : null };
    if (!withheld) return conversion;
    return { ...conversion, person: null, clickIds: {}, browserIds: {}, browser: null, consent: "denied" as const };
  });
}

const weights: Record<MatchKey, number> = {
  email: 3,
  "click id": 3,
  phone: 2,
  "browser id": 2,
  name: 1,
  "address and user agent": 1,
};

describe.each(platforms)("the match quality of %s", (id, fields, cookie) => {
  const platform = platformOf(id) ?? expect.unreachable(id);
  const settings = standinConnections[id];
  const keys = Object.keys(fields) as MatchKey[];

  test("is what 200 requests carry", () => {
    const conversions = createConversions(cookie);
    const bodies = conversions.map((one) => platform.toRequest([one], settings, now).body);
    const coverage = (key: MatchKey) => bodies.filter((body) => fields[key]?.test(body)).length / count;
    // The sample would prove nothing if every request, or none, carried a key.
    for (const key of keys) expect(coverage(key), key).toSatisfy((share: number) => share > 0.1 && share < 0.95);

    const full = fullSample({ time: now, receivedAt: now });
    const event = { keyId: "k", time: now, receivedAt: now, attribution: { identity: "found", withheld: null } } as const;
    const ours = scoreMatch(
      sentKeys(platform, settings, full, now),
      conversions.map((one) => ({ event, sent: sentKeys(platform, settings, one, now) })),
    );
    const possible = keys.reduce((sum, key) => sum + weights[key], 0);
    const reached = keys.reduce((sum, key) => sum + weights[key] * coverage(key), 0);
    expect(Object.fromEntries(ours.keys.map((one) => [one.key, one.coverage]))).toEqual(
      Object.fromEntries(keys.map((key) => [key, coverage(key)])),
    );
    expect(ours.score).toBe(Math.round((100 * reached) / possible) / 10);
  });
});
