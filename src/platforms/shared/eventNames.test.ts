import { describe, expect, test } from "vitest";
import type { EventNames } from "../platform.ts";
import { fitName, nameRuleFault } from "./customNames.ts";
import { describeName, eventNameOf, eventNamesOf, foldName, nameFault, resolveName, usualEventOf } from "./eventNames.ts";
import { usualEvents } from "./usualEvents.ts";
import { english } from "../../kernel/messages/message.ts";

const shop: EventNames = { standard: { purchase: "Buy", lead: "Contact" }, others: "own name" };
const actions: EventNames = { standard: {}, others: "not sent", several: true, defaultSetting: "action" };

describe("the usual events", () => {
  const names = Object.entries(usualEvents).flatMap(([usual, others]) =>
    [usual, ...others].map((name) => [name, usual] as const),
  );

  test("no name stands for two events, and none is listed twice", () => {
    const folded = names.map(([name]) => foldName(name));
    expect(folded.filter((name, i) => folded.indexOf(name) !== i)).toEqual([]);
  });

  test.each([
    ["generate_lead", "lead"],
    ["Order Completed", "purchase"],
    ["checkout_completed", "purchase"],
    ["sign_up", "signup"],
    ["Signed Up", "signup"],
    ["begin_checkout", "begin_checkout"],
    ["Product Added", "add_to_cart"],
    ["product_added_to_cart", "add_to_cart"],
    ["view_item", "view_item"],
    ["Qualified Lead", "qualified_lead"],
    ["Closed Won", "closed_won"],
    ["Closed – Won", "closed_won"],
    ["Closed/Won", "closed_won"],
    ["ORDERS_PAID", "purchase"],
    ["view_search_results", "search"],
  ])("%s is the event %s, in any case and with spaces, dashes or underscores", (name, usual) => {
    const words = name.split(/[ _]/);
    const spellings = [" ", "_", "-", ""].flatMap((by) => {
      const joined = words.join(by);
      return [joined, joined.toLowerCase(), joined.toUpperCase()];
    });
    for (const spelling of spellings) expect(usualEventOf(spelling), spelling).toBe(usual);
  });

  test.each(["", "checkout", "orders/create", "Quiz Done", "constructor", "__proto__"])(
    "%j is none of the usual events",
    (name) => {
      expect(usualEventOf(name)).toBeNull();
    },
  );
});

describe("the name of an event", () => {
  test("other names of an event lead to the platform's name for it", () => {
    expect(resolveName("Order Completed", {}, shop)).toEqual({
      names: ["Buy"],
      by: "standard",
      usual: "purchase",
    });
    expect(resolveName(" PURCHASE ", {}, shop)).toEqual({ names: ["Buy"], by: "standard", usual: null });
    expect(resolveName("Quiz Done", {}, shop)).toEqual({ names: ["Quiz Done"], by: "custom", usual: null });
  });

  test("all names of a usual event that the platform has no name for are one custom event", () => {
    for (const name of ["MQL", "SQL", "Qualified Lead", "qualified_lead", "Lead Qualified"])
      expect(eventNameOf({ name }, {}, shop), name).toBe("qualified_lead");
    expect(resolveName("MQL", {}, shop)).toMatchObject({ by: "custom", usual: "qualified_lead" });
    const short: EventNames = { ...shop, customNames: { maxLength: 9 } };
    expect(eventNameOf({ name: "MQL" }, {}, short)).toBe("qualified");
    const oneName: EventNames = { ...shop, others: { name: "Other" } };
    expect(eventNameOf({ name: "MQL" }, {}, oneName)).toBe("Other");
  });

  test("a choice for the usual event applies to its other names, and a choice for a name wins", () => {
    const settings = { "event.lead": "A", "event.generatelead": "B" };
    expect(eventNameOf({ name: "Lead Captured" }, settings, shop)).toBe("A");
    expect(eventNameOf({ name: "Generate Lead" }, settings, shop)).toBe("B");
    expect(eventNameOf({ name: "lead" }, { "event.generatelead": "B" }, shop)).toBe("Contact");
    expect(resolveName("Lead Captured", settings, shop)).toMatchObject({ by: "choice", usual: "lead" });
  });

  test("an event may have several targets, and events without their own have the default ones", () => {
    const settings = { "event.lead": "1, 2,2 ,", action: "3,4" };
    expect(eventNamesOf({ name: "MQL" }, settings, actions)).toEqual(["3", "4"]);
    expect(eventNamesOf({ name: "lead" }, settings, actions)).toEqual(["1", "2"]);
    expect(eventNamesOf({ name: "lead" }, {}, actions)).toEqual([]);
    expect(eventNameOf({ name: "lead" }, {}, actions)).toBeNull();
    // Other platforms take a comma as a part of the name.
    expect(eventNamesOf({ name: "lead" }, { "event.lead": "A, B" }, shop)).toEqual(["A, B"]);
  });

  test("a choice may have five targets, each of which must be valid", () => {
    const checked = { ...actions, check: (name: string) => (/^\d$/.test(name) ? null : "must be a digit") };
    expect(nameFault("1,2,3,4,5", checked)).toBeNull();
    expect(english(nameFault("1,2,3,4,5,6", checked) ?? "")).toBe("must be at most 5, separated by commas");
    expect(nameFault("1,x", checked)).toBe("must be a digit");
    expect(nameFault(" , ", checked)).toBe("must be at least one name");
  });

  test.each([
    ["Order Completed", {}, shop, "Order Completed is sent as Buy: Shop's name for purchase."],
    ["purchase", {}, shop, "purchase is sent as Buy: Shop's name for it."],
    ["Quiz", {}, shop, "Quiz is sent as Quiz: a custom event, because Shop has no name for it."],
    ["MQL", {}, shop, "MQL is sent as qualified_lead: its usual name, because Shop has none of its own."],
    ["MQL", { "event.mql": "A" }, shop, "MQL is sent as A: the connection's choice."],
    ["MQL", { "event.qualifiedlead": "A" }, shop, "MQL is sent as A: the connection's choice for qualified_lead."],
    ["lead", { action: "1,2" }, actions, "lead is sent as 1 and 2: the connection's default."],
    ["lead", {}, actions, "Shop has no name for lead, and the connection chooses none."],
  ] as const)("%s with %j is explained", (name, settings, names, sentence) => {
    expect(english(describeName(name, resolveName(name, settings, names), "Shop"))).toBe(sentence);
  });
});

describe("names of custom events", () => {
  const rules = {
    form: "identifier",
    maxLength: 10,
    reserved: ["error"],
    reservedPrefixes: ["ga_"],
  } as const;

  test.each([
    ["quiz_done", "quiz_done"],
    ["QuizDone", "QuizDone"],
    ["Quiz Done", "quiz_done"],
    ["  Größe ", "gro_e"],
    ["Error", "custom_Err"],
    ["ga_quiz", "custom_ga_"],
    ["7 days", "custom_7_d"],
    ["…", "custom_eve"],
    ["a".repeat(20), "a".repeat(10)],
  ])("%j becomes %j", (name, fitted) => {
    expect(fitName(name, rules)).toBe(fitted);
    expect(nameRuleFault(fitted, rules)).toBeNull();
  });

  test("without rules every name stays, and a cut leaves no half of a surrogate pair", () => {
    expect(fitName("Größe 😀")).toBe("Größe 😀");
    expect(fitName("a😀b", { maxLength: 2 })).toBe("a");
  });
});
