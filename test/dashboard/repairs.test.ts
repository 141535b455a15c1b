// The reasons that platforms give lead to the page that mends them.

import { expect, test } from "vitest";
import { repairOf as repairOfAlert, type AlertLine } from "../../dashboard/common/alertPlaces.ts";
import { repairOf, repairOfDelivery } from "../../dashboard/scenes/integrations/repairs.ts";
import { appSubject } from "../../src/alerts/message.ts";
import { sampleNow } from "../../src/delivery/testDelivery.ts";
import { unselectedReason } from "../../src/kernel/event.ts";
import { platformOf } from "../../src/platforms/index.ts";
import { skipOf } from "../../src/platforms/shared/skips.ts";
import { damageFindings } from "../../src/store/damagedRows.ts";
import { allSettings } from "../../src/store/sites/siteSettings.ts";

const now = Date.UTC(2026, 10, 1);
const owner = { mayChange: true, isOwner: true };
const labelOf = (platform: string, reason: string | null | undefined) =>
  repairOf(reason ?? "", { platform, connection: "c1", name: platformOf(platform)?.name ?? "" })?.label;

test.each([
  ["meta", "test", "Add a test event code"],
  ["tiktok", "test", "Add a test event code"],
  ["reddit", "test", "Add a test event code"],
  ["google_ads", "live", "Choose a conversion action"],
  ["linkedin", "live", "Choose a conversion rule"],
  ["x", "live", "Choose an event tag"],
  ["cm360", "live", "Name a Floodlight activity"],
  ["microsoft_ads", "live", "Set up offline conversions"],
] as const)("what %s skips for want of a setting has its button", (id, mode, label) => {
  const reason = skipOf(platformOf(id) ?? expect.unreachable(id), { ...sampleNow("purchase", now), mode }, {})?.reason;
  expect([reason, labelOf(id, reason)]).toEqual([expect.any(String), label]);
});

test("reconnection, a pause and the selection of events have their buttons, an opt-out has none", () => {
  expect(labelOf("meta", "needs reconnection: token expired")).toBe("Reconnect Meta");
  expect(labelOf("meta", "paused")).toBe("Resume Meta");
  expect(labelOf("meta", unselectedReason)).toBe("Select its events");
  expect(labelOf("google_ads", "no gclid, wbraid or gbraid")).toBe("Check the tag");
  const withoutVisit = { ...sampleNow("purchase", now), clickIds: {}, browser: null, mode: "live" } as const;
  for (const id of ["taboola", "outbrain", "axon"])
    expect([id, labelOf(id, skipOf(platformOf(id) ?? expect.unreachable(id), withoutVisit, {})?.reason)]).toEqual([
      id,
      "Check the tag",
    ]);
  for (const id of [
    "msclkid, hashed email or phone",
    "oppref, browser id, email or phone",
    "aleid, alart or axwrt",
    "Google Analytics client id",
  ])
    expect([id, labelOf("meta", `no ${id}`)]).toEqual([id, "Check the tag"]);
  const needsApp = repairOf("no OAuth app is set for meta", {
    platform: "meta",
    connection: "c1",
    name: "Meta",
  });
  expect(needsApp).toMatchObject({ label: "Register the OAuth app", needsOwner: true });
  expect(labelOf("taboola", "opted out")).toBeUndefined();
  expect(labelOf("meta", null)).toBeUndefined();
});

test("a missing click id is no fault to repair in every row of the sync log, a missing setting is", () => {
  const at = { platform: "google_ads", connection: "c1", name: "Google Ads" };
  expect(repairOf("no gclid, wbraid or gbraid", at)?.isLikely).toBe(false);
  expect(repairOf("no conversion action for this event", at)?.isLikely).toBe(true);
});

test("an alert about damaged data leads to what is damaged", () => {
  const pathOf = (subject: string, role = owner) =>
    repairOfAlert({ kind: "damaged data", platform: null, subject } as AlertLine, (id) => id, role)?.path;
  expect(pathOf(allSettings)).toBe("configuration/general");
  expect(pathOf("alertWebhook")).toBe("settings/alerts");
  expect(pathOf(`${appSubject}meta`)).toBe("settings/oauth-apps");
  expect(pathOf(damageFindings.events.subject)).toBe("events");
  expect(pathOf(damageFindings.botVisits.subject)).toBe("bots/visits");
  // Only those are led there who can repair it.
  const admin = { mayChange: true, isOwner: false };
  expect(pathOf("alertWebhook", admin)).toBe("settings/alerts");
  expect(pathOf(`${appSubject}meta`, admin)).toBeUndefined();
  const viewer = { mayChange: false, isOwner: false };
  for (const subject of [allSettings, "alertWebhook", damageFindings.events.subject])
    expect([subject, pathOf(subject, viewer)]).toEqual([subject, undefined]);
});

test("a delivery has no repair once its connection would no longer give the reason", () => {
  const delivery = {
    platform: "google_ads",
    connection: "c1",
    reason: "no conversion action for this event",
    reasonPersists: true,
  };
  expect(repairOfDelivery(delivery, "Google Ads")?.label).toBe("Choose a conversion action");
  expect(repairOfDelivery({ ...delivery, reasonPersists: false }, "Google Ads")).toBeNull();
  // That a visit is missing does not depend on the connection.
  const noClick = { ...delivery, reason: "no gclid, wbraid or gbraid", reasonPersists: false };
  expect(repairOfDelivery(noClick, "Google Ads")?.label).toBe("Check the tag");
});

test("an alert about a connection leads to that one, not to another of its platform", () => {
  const searchOf = (kind: AlertLine["kind"]) =>
    repairOfAlert({ kind, platform: "meta", subject: "c2" } as AlertLine, (id) => id, owner)?.search;
  // Also from a page of test data to live deliveries: the router keeps a mode that is not named.
  const search = { connection: "c2", mode: undefined };
  expect(searchOf("needs reconnection")).toStrictEqual(search);
  // Queues are counted with their test events.
  expect(searchOf("queue")).toStrictEqual({ ...search, mode: "all", tab: "log" });
  expect(searchOf("not counted")).toStrictEqual({ ...search, tab: "log", confirmation: "not counted" });
});
