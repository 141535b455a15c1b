// The reasons that platforms give lead to the page that mends them.

import { expect, test } from "vitest";
import { repairOf } from "../../dashboard/scenes/integrations/repairs.ts";
import { sampleNow } from "../../src/delivery/testDelivery.ts";
import { unselectedReason } from "../../src/kernel/event.ts";
import { platformOf } from "../../src/platforms/index.ts";

const now = Date.UTC(2026, 10, 1);
const labelOf = (platform: string, reason: string | null | undefined) =>
  repairOf(reason ?? "", { platform, connection: "c1", name: platformOf(platform)?.name ?? "" })?.label;

test.each([
  ["meta", "test", "Add a test event code"],
  ["tiktok", "test", "Add a test event code"],
  ["reddit", "test", "Add a test event code"],
  ["google_ads", "live", "Choose a conversion action"],
  ["linkedin", "live", "Choose a conversion rule"],
  ["x", "live", "Choose an event tag"],
] as const)("what %s skips for want of a setting has its button", (id, mode, label) => {
  const reason = platformOf(id)?.skipReason?.({ ...sampleNow("purchase", now), mode }, {}, now);
  expect([reason, labelOf(id, reason)]).toEqual([expect.any(String), label]);
});

test("reconnection, a pause and the selection of events have their buttons, an opt-out has none", () => {
  expect(labelOf("meta", "needs reconnection: token expired")).toBe("Reconnect Meta");
  expect(labelOf("meta", "paused")).toBe("Resume it");
  expect(labelOf("meta", unselectedReason)).toBe("Select its events");
  expect(labelOf("google_ads", "no gclid, wbraid or gbraid")).toBe("Check the tag");
  const withoutVisit = { ...sampleNow("purchase", now), clickIds: {}, browser: null, mode: "live" } as const;
  for (const id of ["taboola", "outbrain", "axon"])
    expect([id, labelOf(id, platformOf(id)?.skipReason?.(withoutVisit, {}, now))]).toEqual([
      id,
      "Check the tag",
    ]);
  expect(labelOf("taboola", "opted out")).toBeUndefined();
  expect(labelOf("meta", null)).toBeUndefined();
});
