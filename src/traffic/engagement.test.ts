// Farms that spread their clicks, and the people who look like them by their number: a carrier after a television spot, an office, the
// readers of a newsletter.

import { describe, expect, test } from "vitest";
import { personsAgent, personsBrowser } from "../../test/support/visits.ts";
import { withDefaults } from "../sites/settings.ts";
import { observeDescription } from "./explain.ts";
import { createTrafficMemory, quiet, type Frequency, type Hit, type TrafficMemory } from "./frequency.ts";
import { judge } from "./verdict.ts";

const second = 1000;
const minute = 60 * second;
const start = 1_000_000_000_000;
const usually = 0.75;

type Visitor = { network: string; userAgent?: string; click: string; goesOn: boolean; at?: number };

function visit(memory: TrafficMemory, { network, userAgent = "Chrome", click, goesOn, at = start }: Visitor): Hit {
  const hit: Hit = {
    siteId: "s",
    network,
    userAgent,
    visitor: null,
    pageId: `${click} ${network} ${userAgent}`,
    isVisit: true,
    isInput: false,
    submitDigest: null,
    form: null,
    emailSha256: null,
    clickIds: [click],
    hasRefused: false,
    at,
  };
  memory.observe(hit);
  if (goesOn)
    memory.observe({ ...hit, visitor: visitorOf(hit), clickIds: [], isVisit: false, isInput: true, at: at + 20 * second });
  return hit;
}
const visitorOf = ({ network, userAgent }: Hit) => `${network} ${userAgent}`.split("").toReversed().join("");

/** Forty people at home, of whom three quarters go on. */
function usualSite(): TrafficMemory {
  const memory = createTrafficMemory();
  for (let n = 0; n < 40; n++) visit(memory, { network: `93.192.${n}.7`, click: `home ${n}`, goesOn: n % 4 > 0 });
  return memory;
}

const share = (n: number, of: number) => Math.floor((n + 1) * of) > Math.floor(n * of);

/** What is known a few minutes later of somebody who did not go on. */
const recall = (memory: TrafficMemory, hit: Hit) =>
  memory.recall(memory.keysOf(hit), { ...hit, visitor: null }, start + 10 * minute);

function verdicts(frequency: Frequency) {
  const headers = null;
  const person = observeDescription({ userAgent: personsAgent, address: "93.192.10.20", headers }, () => null);
  const [webdriver, platform, touchPoints, isChromium] = personsBrowser as [boolean, string, number, boolean];
  const seen = { ...person, script: { webdriver, platform, touchPoints, isChromium }, frequency };
  return { usual: judge(seen, withDefaults({})), allOn: judge(seen, withDefaults({ evidence: ["all=on"] })) };
}

describe("a farm that spreads its clicks", () => {
  test.each<[string, (n: number) => Pick<Visitor, "network" | "userAgent">]>([
    ["a user agent for each click, from one address", (n) => ({ network: "198.51.100.7", userAgent: `Chrome ${n}` })],
    ["a user agent for each click, from one customer with IPv6", (n) => ({ network: "2001:db8:7", userAgent: `Chrome ${n}` })],
    ["an address for each click, of one network", (n) => ({ network: `198.51.100.${n}` })],
    ["an address and a user agent for each", (n) => ({ network: `198.51.100.${n}`, userAgent: `Chrome ${n}` })],
  ])("%s, has two kinds of evidence, which begin in shadow", (_which, of) => {
    const memory = usualSite();
    const hits = Array.from({ length: 60 }, (_, n) =>
      visit(memory, { ...of(n), click: `farm ${n}`, goesOn: false, at: start + n }),
    );
    for (const hit of [hits[0], hits[59]]) {
      const { usual, allOn } = verdicts(recall(memory, hit as Hit));
      expect(usual).toMatchObject({ verdict: { bot: false }, wouldBeBot: true });
      expect(allOn.verdict).toMatchObject({ bot: true, score: 75 });
      expect(allOn.verdict.reasons.map((reason) => reason.split(" (")[0])).toEqual([
        "engagement:no neighbour goes on",
        "volume:many neighbours",
      ]);
    }
    // Their neighbour who scrolls.
    const neighbour = visit(memory, { ...of(61), click: "own", goesOn: true });
    const known = { ...neighbour, visitor: visitorOf(neighbour) };
    expect(memory.recall(memory.keysOf(neighbour), known, start + 10 * minute)).toEqual(quiet);
  });

  test("one click id, replayed from thirty networks of which none goes on, has two kinds of evidence", () => {
    const memory = usualSite();
    const hits = Array.from({ length: 30 }, (_, n) =>
      visit(memory, { network: `${100 + n}.1.2.3`, click: "one", goesOn: false }),
    );
    const last = memory.observe({ ...(hits[29] as Hit), at: start + 10 * minute });
    expect(last).toMatchObject({ visitorsOfClick: 30, goneOnOfClick: { goneOn: 0 } });
    const { usual, allOn } = verdicts(last);
    expect(usual).toMatchObject({ verdict: { bot: false, score: 45 }, wouldBeBot: true });
    expect(allOn.verdict).toMatchObject({ bot: true, score: 85 });
    // The first clicks are known by then, too.
    expect(verdicts(recall(memory, hits[0] as Hit)).allOn.verdict.score).toBe(85);
  });
});

describe("people in numbers", () => {
  test.each<[string, number, (n: number) => Pick<Visitor, "network" | "userAgent" | "click">, number]>([
    [
      "a carrier's network after a television spot",
      240,
      (n) => ({ network: `80.187.7.${n % 200}`, userAgent: `phone ${n % 40}`, click: `spot ${n}` }),
      usually,
    ],
    [
      "a carrier's network whose phones tap advertisements by mistake",
      240,
      (n) => ({ network: `80.187.7.${n % 9}`, userAgent: `phone ${n}`, click: `app ${n}` }),
      0.2,
    ],
    [
      "an office behind one address",
      80,
      (n) => ({ network: "203.0.113.9", userAgent: `desk ${n}`, click: `office ${n}` }),
      usually,
    ],
    ["the readers of a newsletter", 90, (n) => ({ network: `${60 + n}.4.4.4`, click: "newsletter" }), usually],
    [
      "a chat group that shares a link, of whom few stay",
      60,
      (n) => ({ network: `${60 + n}.5.5.5`, userAgent: `phone ${n % 5}`, click: "shared" }),
      0.2,
    ],
  ])("%s: no verdict on anybody, with all evidence on", (_who, count, of, going) => {
    const memory = usualSite();
    const hits = Array.from({ length: count }, (_, n) =>
      visit(memory, { ...of(n), goesOn: share(n, going), at: start + n * 100 }),
    );
    for (const hit of hits) {
      const { allOn } = verdicts(recall(memory, hit));
      expect(allOn.verdict.bot, allOn.verdict.reasons.join("; ")).toBe(false);
      expect(allOn.findings.map(({ signal }) => signal.name)).not.toContain("many neighbours");
    }
  });

  test("what a neighbour with the same browser opens says nothing about somebody's own click", () => {
    const memory = usualSite();
    const own = visit(memory, { network: "80.187.7.1", click: "own", goesOn: false });
    for (let n = 0; n < 60; n++) visit(memory, { network: `${60 + n}.5.5.5`, click: "shared", goesOn: false });
    const neighbour = visit(memory, { network: "80.187.7.1", click: "shared", goesOn: false });
    expect(recall(memory, neighbour)).toMatchObject({ visitorsOfClick: 61, goneOnOfClick: { goneOn: 0 } });
    expect(recall(memory, own)).toMatchObject({ visitorsOfClick: 1, goneOnOfClick: null });
  });

  test("twelve friends who open a shared link and leave again are too few to say anything", () => {
    const memory = usualSite();
    const hits = Array.from({ length: 12 }, (_, n) =>
      visit(memory, { network: `${100 + n}.1.2.3`, click: "one", goesOn: false }),
    );
    for (const hit of hits) expect(verdicts(recall(memory, hit)).allOn.verdict.bot).toBe(false);
    // Nor is anything known where few visitors of the site are.
    const quietSite = createTrafficMemory();
    const other = Array.from({ length: 30 }, (_, n) =>
      visit(quietSite, { network: `${100 + n}.1.2.3`, click: "one", goesOn: false }),
    );
    expect(recall(quietSite, other[0] as Hit).goneOnOfClick).toBe(null);
  });
});
