import { describe, expect, test } from "vitest";
import { personOf } from "../../test/support/person.ts";
import { sha256 } from "../../test/support/sha256.ts";
import { dayMs } from "../kernel/time.ts";
import { toLadder, type StageEvent } from "./leadStages.ts";

const start = Date.UTC(2026, 10, 1);
const stages = ["lead", "qualified_lead", "closed_won"];
let ids = 0;

/** A stage of a lead, some days after the start. */
function event(lead: string, name: string, day: number, source = "", changes: Partial<StageEvent> = {}): StageEvent {
  ids += 1;
  return {
    id: String(ids).padStart(6, "0"),
    name,
    time: start + day * dayMs,
    person: personOf({ email: `${lead}@example.com` }),
    attribution: { utm: source ? { utm_source: source } : {}, clickIds: {} },
    ...changes,
  };
}

const steps = (events: readonly StageEvent[]) => toLadder(events, stages).sources.map(({ source, steps: of }) => [source, of]);

describe("the ladder", () => {
  test("it counts leads by source and stage, with the median time from the stage before", () => {
    const events = [
      event("a", "lead", 0, "google"),
      event("a", "MQL", 2),
      event("a", "Deal Won", 12),
      event("b", "lead", 1, "google"),
      event("b", "Lead Qualified", 5),
      event("c", "generate_lead", 1, "linkedin"),
      event("d", "purchase", 1, "google"),
    ];
    expect(steps(events)).toEqual([
      [
        "google",
        [
          { stage: "lead", leads: 2, medianMs: null },
          { stage: "qualified_lead", leads: 2, medianMs: 3 * dayMs },
          { stage: "closed_won", leads: 1, medianMs: 10 * dayMs },
        ],
      ],
      [
        "linkedin",
        [
          { stage: "lead", leads: 1, medianMs: null },
          { stage: "qualified_lead", leads: 0, medianMs: null },
          { stage: "closed_won", leads: 0, medianMs: null },
        ],
      ],
    ]);
  });

  test("the work for one person with thousands of leads and events grows with their number, not with its square", () => {
    let reads = 0;
    const shared = { person: personOf({ email: "one@example.com" }) };
    const events = Array.from({ length: 2000 }, (_, i) => {
      const one = event("one", "lead", 0, "", shared);
      return Object.defineProperty(one, "leadId", {
        get() {
          reads += 1;
          return i % 2 ? `lead ${i}` : undefined;
        },
      });
    });
    expect(toLadder(events, stages).sources[0]?.leads).toBe(1001);
    expect(reads).toBeLessThan(20 * events.length);
  });

  test("a stage that was left out is no step: the time counts from the nearest one before", () => {
    const [[, of] = []] = steps([event("a", "lead", 0), event("a", "closed_won", 4)]) as [string, { medianMs: number }[]][];
    expect(of?.map(({ medianMs }) => medianMs)).toEqual([null, null, 4 * dayMs]);
  });

  test("a lead that goes back is shown with its event, and counts once at each stage", () => {
    const back = event("a", "lead", 3);
    const { sources, back: shown } = toLadder(
      [event("a", "lead", 0), event("a", "MQL", 1), back, event("a", "MQL", 4), event("b", "lead", 0)],
      stages,
    );
    expect(shown).toEqual([{ eventId: back.id, stage: "lead", from: "qualified_lead", time: back.time }]);
    expect(sources).toMatchObject([{ source: "(none)", leads: 2, wentBack: 1 }]);
    expect(sources[0]?.steps.map(({ leads }) => leads)).toEqual([2, 1, 0]);
  });

  test("people without an email, and erased ones, are as many leads", () => {
    const phone = (number: string) => ({ person: { phoneSha256: sha256(number) } });
    const events = [
      event("", "lead", 0, "", phone("+491511234567")),
      event("", "MQL", 1, "", phone("+491511234567")),
      event("", "lead", 0, "", phone("+491517654321")),
      event("", "lead", 0, "", { person: {} }),
      event("", "lead", 0, "", { person: {} }),
    ];
    expect(toLadder(events, stages).sources[0]?.steps.map(({ leads }) => leads)).toEqual([4, 1, 0]);
  });

  test("stages with and without the lead id of a person are one lead, unless the person has several", () => {
    const [one, other] = [{ leadId: "100000000000001" }, { leadId: "100000000000002" }];
    const form = event("a", "lead", 0, "google");
    const crm = [event("a", "MQL", 1, "", one), event("a", "Deal Won", 2, "", one)];
    const leadsIn = (events: readonly StageEvent[]) =>
      toLadder(events, stages).sources.map(({ source, leads }) => [source, leads]);
    expect(leadsIn([form, ...crm])).toEqual([["google", 1]]);
    expect(leadsIn([form, ...crm, event("a", "MQL", 1, "", other)])).toEqual([
      ["(none)", 2],
      ["google", 1],
    ]);
  });

  test("two leads of one person are two, and the source of a lead is the first that is known", () => {
    const clicked = { utm: {}, clickIds: { gclid: { value: "x", seenAt: start } } };
    const events = [
      event("a", "lead", 0, "", { leadId: "100000000000001" }),
      event("a", "MQL", 1, "", { leadId: "100000000000001", attribution: clicked }),
      event("a", "lead", 2, "newsletter", { leadId: "100000000000002" }),
    ];
    expect(toLadder(events, stages).sources.map(({ source, leads }) => [source, leads])).toEqual([
      ["google", 1],
      ["newsletter", 1],
    ]);
  });

  test("no events are no sources", () => {
    expect(toLadder([], stages)).toEqual({ sources: [], back: [] });
  });
});
