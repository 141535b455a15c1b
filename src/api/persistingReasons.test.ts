import { expect, test } from "vitest";
import { unselectedReason } from "../kernel/event.ts";
import type { Connection } from "../sites/directory.ts";
import { persistingReasons } from "./persistingReasons.ts";
import { say } from "../kernel/messages/message.ts";

const now = Date.UTC(2026, 10, 1);
const connection: Connection = {
  siteId: "site",
  id: "c1",
  platform: "meta",
  account: "",
  settings: {},
  events: null,
  state: "active",
  stateReason: null,
  createdAt: 0,
};
type Change = Partial<Connection>;

function persists(today: Change | null, delivery: { state: "skipped" | "parked"; reason: string }, mode = "live") {
  const directory = { connection: () => (today ? { ...connection, ...today } : undefined) };
  const ended = { connectionId: "c1", event: "purchase", mode: mode as "live" | "test", ...delivery };
  return persistingReasons(directory, "site", now)(ended);
}

test.each<[string, string, string, Change, Change]>([
  ["meta", "test", "test event, but the connection has no test event code", {}, { settings: { test_event_code: "TEST1" } }],
  ["google_ads", "live", "no conversion action for this event", {}, { settings: { "event.purchase": "12" } }],
  ["linkedin", "live", "no conversion rule for this event", {}, { settings: { "event.purchase": "12" } }],
  [
    "microsoft_ads",
    "live",
    "older than 7 days, and offline conversions are not set up for this event",
    { settings: { tag_id: "1", tag_token: "t" } },
    {
      settings: {
        access_token: "a",
        developer_token: "d",
        account_id: "1",
        customer_id: "2",
        offline_goal: "Purchase",
      },
    },
  ],
  ["meta", "live", unselectedReason, { events: ["lead"] }, { events: ["Purchase"] }],
])("the reason %s %s %s stands until its setting is there", (platform, mode, reason, before, after) => {
  const skipped = { state: "skipped", reason } as const;
  expect(persists({ platform, ...before }, skipped, mode)).toBe(true);
  expect(persists({ platform, ...after }, skipped, mode)).toBe(false);
  expect(persists(null, skipped, mode)).toBe(false);
});

test("what is parked waits for the state of its connection, whatever the platform said then", () => {
  const refused = { state: "parked", reason: say("needs_reconnection", { reason: "token expired" }) } as const;
  expect(persists({ state: "needs reconnection", stateReason: "revoked" }, refused)).toBe(true);
  expect(persists({ state: "active" }, refused)).toBe(false);
  expect(persists({ state: "paused" }, refused)).toBe(false);
  expect(persists({ state: "paused" }, { state: "parked", reason: "paused" })).toBe(true);
});

test.each<[string, Change, Change]>([
  ["tiktok", {}, { settings: { without_person: "send" } }],
  ["ga4", { settings: { without_client_id: "skip" } }, {}],
])("%s leaves out people who opted out until its setting sends them", (platform, before, after) => {
  const skipped = { state: "skipped", reason: "opted out" } as const;
  expect(persists({ platform, ...before }, skipped)).toBe(true);
  expect(persists({ platform, ...after }, skipped)).toBe(false);
});

test("an event that is too old for the platform does not become younger", () => {
  const tooOld = (days: number) => ({ state: "skipped", reason: say("too_old", { days, platform: "Meta" }) }) as const;
  expect(persists({}, tooOld(7))).toBe(true);
  expect(persists({}, tooOld(6))).toBe(false);
});

test("an erased person stays erased", () => {
  expect(persists({}, { state: "skipped", reason: "person erased" })).toBe(true);
});

test("a missing click id lies in the event, not in the connection", () => {
  const settings = { "event.purchase": "12" };
  const skipped = { state: "skipped", reason: "no gclid, wbraid or gbraid" } as const;
  expect(persists({ platform: "google_ads", settings }, skipped)).toBe(false);
});
