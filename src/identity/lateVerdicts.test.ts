import { expect, test } from "vitest";
import type { Visit } from "../kernel/event.ts";
import { createTrafficMemory } from "../traffic/frequency.ts";
import type { VisitRules } from "../traffic/lists.ts";
import { withLateVerdicts } from "./lateVerdicts.ts";
import type { KnownPerson } from "./attribution.ts";

const now = Date.UTC(2026, 10, 14, 12);
const userAgent =
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36";
const settings: VisitRules = {
  botThreshold: 60,
  evidence: [],
  allowUserAgents: [],
  denyUserAgents: [],
  allowNetworks: [],
  denyNetworks: [],
  allowCountries: [],
  denyCountries: [],
};

test("a visit is looked up by the click that brought it, and not by what all clicks of a campaign share", () => {
  const memory = createTrafficMemory();
  const asked: (readonly string[])[] = [];
  const recall: typeof memory.recall = (keys, visit, at) => {
    asked.push(visit.clickIds);
    return memory.recall(keys, visit, at);
  };
  const seen = (value: string) => ({ value, seenAt: now });
  const shared = { gad_source: seen("1"), gad_campaignid: seen("17334012345") };
  const visitWith = (clickIds: Visit["clickIds"]): Visit => ({
    visitorId: "v",
    seenAt: now,
    browser: { page: "https://shop.example/", referrer: "", address: "192.0.2.1", userAgent },
    clickIds,
    browserIds: {},
    utm: {},
  });
  const visits = [visitWith({ ...shared, gbraid: seen("Same"), gclid: seen("Click") }), visitWith(shared)];
  const known: KnownPerson = { consent: "granted", withheld: null, identity: { visits, firstUtm: {}, forms: {} } };
  withLateVerdicts(known, { id: "site", settings }, { ...memory, recall }, now);
  expect(asked).toEqual([["Click"]]);
});
