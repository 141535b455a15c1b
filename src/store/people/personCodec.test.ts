import { describe, expect, test } from "vitest";
import { attribute } from "../../identity/attribution.ts";
import type { Attribution, Identity, Visit, Visitor } from "../../kernel/event.ts";
import { packAttribution, packRecord, unpackAttribution, unpackRecord } from "./personCodec.ts";
import { unattributed } from "../../../test/support/events.ts";
import { generateIdentity } from "../../../test/support/person.ts";
import { sha256 } from "../../../test/support/sha256.ts";

const person = sha256("ab".repeat(32));
const seenAt = 1_794_297_600_000;
const visit = (changed: Partial<Visit> = {}): Visit => ({
  visitorId: "84d89877f0d4041efb6bf9",
  seenAt,
  browser: {
    page: "https://shop.example.com/autumn",
    referrer: "https://www.google.com/",
    address: "203.0.113.9",
    userAgent: "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36",
  },
  clickIds: { gclid: { value: "EAIaIQobChMI-_", seenAt }, fbclid: { value: "IwAR0", seenAt: seenAt - 5 } },
  browserIds: { _fbp: "fb.1.1794297600000.1", _ga: "GA1.1.2.1794297600" },
  utm: { utm_source: "google", utm_medium: "cpc" },
  ...changed,
});
const identity = (changed: Partial<Identity> = {}): Identity => ({
  visits: [visit()],
  firstUtm: { utm_source: "google", utm_medium: "cpc" },
  forms: { emailGoogleSha256: person, emailMicrosoftSha256: sha256("cd".repeat(32)) },
  ...changed,
});

describe("stored records", () => {
  const unusual = 'té\u0085st \u0001 "{\\ \u{1f600} \ud800 \t\n\\0041 = ","seenAt":';
  test.each<[string, Identity | Visitor]>([
    ["of a person", identity()],
    ["without visits", { visits: [], firstUtm: {}, forms: {} }],
    ["whose first UTM fields differ from those of its visits", identity({ firstUtm: { utm_source: "bing" } })],
    ["whose first UTM fields were removed", identity({ firstUtm: {} })],
    [
      "of several visits, one of a bot",
      identity({
        visits: [
          visit({ verdict: { bot: true, score: 100, reasons: ["named bot: x"], rules: 3 } }),
          visit({
            seenAt: seenAt - 1,
            utm: {},
            clickIds: {},
            browserIds: {},
            browser: null,
            visitorId: null,
          }),
          visit({ seenAt: seenAt - 2, utm: { utm_source: "first" } }),
        ],
        firstUtm: { utm_source: "first" },
      }),
    ],
    ["with text that looks like our codes", identity({ visits: [visit({ utm: { utm_source: unusual } })] })],
    ["of a visitor", { visits: [visit()], emailSha256s: [person, sha256("ef".repeat(32))] }],
  ])("a record %s is read as it was written", (_what, record) => {
    expect(unpackRecord(packRecord(record, person), person)).toEqual(record);
  });

  test("a thousand generated records are read as they were written", () => {
    for (let seed = 0; seed < 1000; seed++) {
      const record = generateIdentity(seed, seenAt, person);
      expect(unpackRecord(packRecord(record, person), person)).toEqual(record);
      const visitor = { visits: record.visits, emailSha256s: Object.values(record.forms) };
      expect(unpackRecord(packRecord(visitor, "a visitor"), "a visitor")).toEqual(visitor);
    }
  });

  test("a record takes less than two fifths of the bytes of JSON", () => {
    const record = identity({
      forms: { emailGoogleSha256: person, emailMicrosoftSha256: person, emailRedditSha256: person },
    });
    const packed = Buffer.byteLength(packRecord(record, person));
    expect(packed).toBeLessThan((JSON.stringify(record).length * 2) / 5);
  });

  test("a record is stored as a text that PostgreSQL accepts", () => {
    const packed = packRecord(identity({ visits: [visit({ utm: { utm_source: unusual } })] }), person);
    expect(packed.isWellFormed()).toBe(true);
    expect(packed).not.toContain("\0");
  });

  test("a record that a release stored is read by every later one", () => {
    // This is the text in databases: if this fails, they can no longer be read.
    const stored =
      '[[["84d89877f0d4041efb6bf9",1794297600000,[\fshop.example.com/autumn",\rgoogle.com/","203.0.113.9","\u0001\u0002142\u0003"],{\u0014EAIaIQobChMI-_","fbclid":["IwAR0",1794297599995]},{\u00181794297600000.1",\u001a2.1794297600"},\u000fgoogle\u0010cpc"}]],{"emailGoogleSha256":0,"emailMicrosoftSha256":"cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd"}]';
    expect(unpackRecord(stored, person)).toEqual(identity());
  });

  test("the text of a visitor's record contains the hashes of its emails, by which it is found", () => {
    expect(packRecord({ visits: [], emailSha256s: [person] }, "visitor")).toContain(person);
  });
});

describe("stored attributions", () => {
  const { clickIds, browserIds, utm, browser } = visit();
  const full: Attribution = { ...unattributed, identity: "found", clickIds, browserIds, utm, browser };

  test.each<[string, Attribution]>([
    ["of a person with visits", full],
    ["of an unknown person", unattributed],
    ["that was withheld", { ...unattributed, consent: "denied", withheld: "opted out" }],
    ["whose consent is unreadable", { ...full, consent: "unreadable", withheld: "consent unreadable" }],
    ["with text that looks like our codes", { ...full, utm: { utm_source: "\u0001\t\nA\\ \ud800=" } }],
    ["with UTM fields alone", { ...unattributed, utm: { utm_source: "google", of_site: "x" } }],
  ])("an attribution %s is read as it was written", (_what, attribution) => {
    const text = packAttribution(attribution);
    expect(unpackAttribution(text)).toEqual(attribution);
    expect([text.isWellFormed(), text.includes("\0")]).toEqual([true, false]);
  });

  test("the attributions of a thousand generated people are read as they were written, from half the bytes of JSON", () => {
    let [packed, json] = [0, 0];
    for (let seed = 0; seed < 1000; seed++) {
      const identityOf = generateIdentity(seed, seenAt, person);
      const known = { consent: "granted", withheld: null, identity: identityOf } as const;
      const attribution = attribute(known, seenAt, { keepMs: 1e12, isTrusted: false });
      const text = packAttribution(attribution);
      expect(unpackAttribution(text)).toEqual(attribution);
      packed += Buffer.byteLength(text);
      json += JSON.stringify(attribution).length;
    }
    expect(packed).toBeLessThan(json / 2);
  });

  test("an attribution that a release stored is read by every later one", () => {
    const stored =
      '["unknown",null,"found",[null,1794297600000,[\fshop.example.com/autumn",\rgoogle.com/","203.0.113.9","\u0001\u0002142\u0003"],{\u0014EAIaIQobChMI-_","fbclid":["IwAR0",1794297599995]},{\u00181794297600000.1",\u001a2.1794297600"},\u000fgoogle\u0010cpc"}]]';
    expect(unpackAttribution(stored)).toEqual(full);
  });

  test.each(["", "{}", "[]", '["unknown",null]', '["unknown",null,5]', '["unknown",null,"none",[null,"x"]]'])(
    "an attribution of the text %j is damaged",
    (text) => {
      expect(() => unpackAttribution(text)).toThrow("the record is damaged");
    },
  );
});
