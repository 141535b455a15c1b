import { expect, test } from "vitest";
import { createQuota, takeQuota } from "./quota.ts";

const now = 1_000_000;
const allowed = { requests: 300, seconds: 60 };

test("the whole quota can be taken at once, then one request as each becomes available", () => {
  const quota = createQuota();
  for (let i = 0; i < 300; i++) expect(quota.take("k", allowed, now)).toBe(0);
  expect(quota.take("k", allowed, now)).toBe(200);
  expect(quota.take("k", allowed, now + 200)).toBe(0);
  expect(quota.take("k", allowed, now + 200)).toBe(200);
  expect(quota.take("other", allowed, now)).toBe(0);
});

test("after the first burst no minute exceeds the quota, however often it is tried", () => {
  const quota = createQuota();
  for (let i = 0; i < 300; i++) quota.take("k", allowed, now);
  let taken = 0;
  for (let ms = 0; ms < 60_000; ms += 7) if (quota.take("k", allowed, now + ms) === 0) taken += 1;
  expect(taken).toBeGreaterThan(295);
  expect(taken).toBeLessThanOrEqual(300);
});

test("a quota refills to its size and no further, and a clock that goes back takes nothing", () => {
  const quota = createQuota();
  quota.take("k", allowed, now);
  expect(quota.take("k", allowed, now - 60_000)).toBe(0);
  for (let i = 0; i < 300; i++) quota.take("k", allowed, now + 3_600_000);
  expect(quota.take("k", allowed, now + 3_600_000)).toBeGreaterThan(0);
});

test("a connection has its platform's quota for itself unless an app shares it, and a further limit of one kind of requests counts, too", () => {
  const options = { quota: createQuota(), elapsed: () => now };
  const [one, other] = ["c1", "c2"].map((id) => ({ siteId: "s", id, platform: "linkedin" }));
  if (!one || !other) expect.unreachable();
  const own = { kind: "confirmations", perMinute: 10 };
  for (let i = 0; i < 10; i++) expect(takeQuota(options, one, own)).toBe(0);
  expect(takeQuota(options, one, own)).toBe(6000);
  for (let i = 0; i < 290; i++) expect(takeQuota(options, one)).toBe(0);
  expect(takeQuota(options, one)).toBe(200);
  expect(takeQuota(options, other, own)).toBe(0);
  expect(takeQuota(options, { ...one, platform: "meta" })).toBe(0);
  for (let i = 0; i < 300; i++) takeQuota(options, { ...one, platform: "google_ads" });
  expect(takeQuota(options, { ...other, platform: "google_ads" })).toBe(200);
});
