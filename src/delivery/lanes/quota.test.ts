import { expect, test } from "vitest";
import { createQuota } from "./quota.ts";

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
