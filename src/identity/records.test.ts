import { describe, expect, test } from "vitest";
import type { Identity, Visit } from "../event.ts";
import { addVisit } from "./records.ts";

const nobody: Identity = { visits: [], firstUtm: {}, forms: {} };
const visit = (seenAt: number, changes: Partial<Visit> = {}): Visit => ({
  visitorId: null,
  seenAt,
  clickIds: {},
  browserIds: {},
  utm: {},
  bot: false,
  ...changes,
});
const times = (identity: Identity) => identity.visits.map((one) => one.seenAt);
const after = (known: Identity, ...visits: Visit[]) =>
  visits.reduce((identity, one) => addVisit(identity, one, {}), known);

describe("an identity record", () => {
  test("keeps its last five visits, newest first", () => {
    expect(times(after(nobody, ...[1, 2, 3, 4, 5, 6, 7].map((at) => visit(at))))).toEqual([7, 6, 5, 4, 3]);
  });

  test("sorts a visit that is reported late into its place", () => {
    expect(times(after(nobody, visit(30), visit(10), visit(20)))).toEqual([30, 20, 10]);
  });

  test("an older visit than the five that are kept changes nothing", () => {
    const full = after(nobody, ...[2, 3, 4, 5, 6].map((at) => visit(at)));
    expect(times(after(full, visit(1)))).toEqual([6, 5, 4, 3, 2]);
  });

  test("of two visits at the same moment the one reported last stands first", () => {
    const both = after(nobody, visit(1, { visitorId: "a" }), visit(1, { visitorId: "b" }));
    expect(both.visits.map((one) => one.visitorId)).toEqual(["b", "a"]);
  });

  test("keeps a visit whole", () => {
    const whole = visit(5, {
      visitorId: "v1",
      clickIds: { gclid: { value: "G-1", seenAt: 4 } },
      browserIds: { _fbp: "fb.1" },
      utm: { utm_source: "x" },
    });
    expect(after(nobody, whole).visits).toEqual([whole]);
  });

  test("is made anew: neither the known record nor the visit is changed", () => {
    const known = after(nobody, visit(1));
    const before = structuredClone(known);
    addVisit(known, visit(2, { utm: { utm_source: "x" } }), { emailGoogle: "g" });
    expect(known).toEqual(before);
    expect(nobody).toEqual({ visits: [], firstUtm: {}, forms: {} });
  });

  test("bots' visits do not push a person's visit out: who merely knows an email cannot erase its history", () => {
    const human = visit(1, { clickIds: { gclid: { value: "G-1", seenAt: 1 } } });
    const flooded = after(nobody, human, ...[2, 3, 4, 5, 6, 7].map((at) => visit(at, { bot: true })));
    expect(flooded.visits).toContainEqual(human);
  });
});

describe("the first touch", () => {
  test("is the first UTM fields ever seen, kept beside the newest", () => {
    const record = after(
      nobody,
      visit(1, { utm: { utm_source: "first", utm_medium: "cpc" } }),
      visit(2, { utm: { utm_source: "second" } }),
    );
    expect(record.firstUtm).toEqual({ utm_source: "first", utm_medium: "cpc" });
    expect(record.visits[0]?.utm).toEqual({ utm_source: "second" });
  });

  test("a visit without UTM fields leaves the place free", () => {
    expect(after(nobody, visit(1), visit(2, { utm: { utm_source: "x" } })).firstUtm).toEqual({
      utm_source: "x",
    });
  });

  test("outlives the visit that it came with", () => {
    const record = after(
      nobody,
      visit(1, { utm: { utm_source: "first" } }),
      ...[2, 3, 4, 5, 6, 7].map((at) => visit(at, { utm: { utm_source: "later" } })),
    );
    expect(times(record)).not.toContain(1);
    expect(record.firstUtm).toEqual({ utm_source: "first" });
  });
});

describe("the forms of the email", () => {
  test("are added, and kept when a later visit brings none", () => {
    const captured = addVisit(nobody, visit(1), { emailGoogle: "g", emailReddit: "r" });
    expect(after(captured, visit(2)).forms).toEqual({ emailGoogle: "g", emailReddit: "r" });
    expect(addVisit(captured, visit(2), { emailMicrosoft: "m" }).forms).toEqual({
      emailGoogle: "g",
      emailMicrosoft: "m",
      emailReddit: "r",
    });
  });
});
