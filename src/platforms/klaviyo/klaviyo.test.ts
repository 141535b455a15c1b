import { describe, expect, test } from "vitest";
import { platformFixture } from "../../../test/platforms/fixture.ts";
import type { PlatformRequest } from "../platform.ts";
import { fullPerson, withheld } from "../shared/sample.ts";
import { hourMs } from "../../kernel/time.ts";
import { now } from "../../../test/platforms/fixture.ts";
import { klaviyo } from "./index.ts";

const { request, skipReason, read, settingFault } = platformFixture(klaviyo, { account_id: "AbC123", api_key: "pk_x" });
const clicked = { clickIds: { _kx: { value: "Example_kx-4711.AbC123", seenAt: 0 } } };

const attributesOf = ({ body }: PlatformRequest) =>
  (JSON.parse(body) as { data: { attributes: Record<string, unknown> } }).data.attributes;

describe("profiles", () => {
  test("a conversion without an identifier of Klaviyo's is skipped: a hashed email finds no profile", () => {
    expect(skipReason()).toBe("no _kx, external id or profile id");
    expect(skipReason(clicked)).toBeNull();
    expect(skipReason({}, { external_id: "email_sha256" })).toBeNull();
    expect(skipReason({ extra: { id: "c-1" } }, { "map.profile.external_id": "extra.id" })).toBeNull();
    expect(skipReason({}, { "map.profile.external_id": "extra.id" })).toBe("no _kx, external id or profile id");
  });

  test("a mapped external ID comes before the hashed email", () => {
    const mapped = { external_id: "email_sha256", "map.profile.external_id": "extra.id" };
    expect(attributesOf(request({ extra: { id: "c-1" } }, mapped)).profile).toEqual({
      data: { type: "profile", attributes: { external_id: "c-1" } },
    });
    expect(attributesOf(request({}, mapped)).profile).toEqual({
      data: { type: "profile", attributes: { external_id: fullPerson.emailSha256 } },
    });
  });

  test("after an opt-out nothing is sent, not even a mapped id", () => {
    const mapped = { "map.profile.external_id": "extra.id" };
    expect(skipReason({ ...withheld, extra: { id: "c-1" } }, mapped)).toBe("opted out");
    expect(request({ ...withheld, extra: { id: "c-1" } }, mapped).body).not.toContain("c-1");
  });

  test("a broken _kx is not sent", () => {
    for (const value of ["a b", "x".repeat(3000), fullPerson.emailSha256])
      expect(skipReason({ clickIds: { _kx: { value, seenAt: 0 } } })).toBe("no _kx, external id or profile id");
  });
});

test("an event triggers flows until it is as old as the setting says, and a time ahead of ours is now", () => {
  const backfillOf = (time: number, more = {}) => attributesOf(request({ ...clicked, time }, more)).backfill;
  expect(backfillOf(now - 24 * hourMs)).toBeUndefined();
  expect(backfillOf(now - 24 * hourMs - 1)).toBe(true);
  expect(backfillOf(now - 1, { flows_within_hours: "0" })).toBe(true);
  expect(attributesOf(request({ ...clicked, time: now + 60_000 })).time).toBe(new Date(now).toISOString());
});

test("a long custom name is cut to what Klaviyo takes", () => {
  const { metric } = attributesOf(request({ ...clicked, name: "x".repeat(300) }));
  expect(JSON.stringify(metric)).toContain(`"${"x".repeat(127)}"`);
});

test("an error without a detail has its title, and one about the whole body no field", () => {
  const error = (one: object) => read({ status: 400, body: JSON.stringify({ errors: [one] }) });
  expect(error({ title: "Invalid input.", source: { pointer: "/data" } })).toEqual([
    { kind: "rejected", error: "HTTP 400: Invalid input." },
  ]);
  expect(error({ detail: "Too long", source: { pointer: "/data/attributes/metric/data" } })).toEqual([
    { kind: "rejected", error: "HTTP 400: metric/data: Too long" },
  ]);
});

test("settings are checked", () => {
  expect(settingFault("account_id", "AbC123")).toBeNull();
  expect(settingFault("account_id", "pk_secret")).toMatch(/public API key/);
  expect(settingFault("flows_within_hours", "-1")).toMatch(/number of hours/);
  expect(settingFault("external_id", "email")).toMatch(/mapped or email_sha256/);
});
