import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { cpuMsOf } from "../../test/support/cpuTime.ts";
import { orderEventId } from "../kernel/ids.ts";
import type { Site } from "../sites/directory.ts";
import { createExactFields } from "./body.ts";
import { FieldFault } from "./fieldFault.ts";
import { readExtra, readFields, type Fields } from "./fields.ts";
import { findLookAlikes } from "./lookAlikes.ts";
import { dayMs as day } from "../kernel/time.ts";

const now = Date.UTC(2026, 10, 14, 12);
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
const hash = sha256("ada@example.com");

const readText = (text: string, country: string | null = null) =>
  readFields(
    {
      fields: JSON.parse(text) as Record<string, unknown>,
      exact: createExactFields(text),
    },
    { id: "site", settings: { country, conversionsWithoutEmail: false } },
    now,
  );
const read = (fields: Record<string, unknown>, country: string | null = null) => readText(JSON.stringify(fields), country);

function fault(result: Fields | FieldFault): string {
  if (!(result instanceof FieldFault)) throw new Error("expected a fault");
  return result.message;
}
function accepted(result: Fields | FieldFault): Fields {
  if (result instanceof FieldFault) throw new Error(result.message);
  return result;
}
/** A value in the name of a test: short, and in plain ASCII. */
const shown = (value: unknown) =>
  JSON.stringify(value)
    .replace(/[^ -~]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .slice(0, 70);
/** A whole event with some fields changed; undefined leaves one out. */
const event = (changes: Record<string, unknown> = {}) => ({
  email: "ada@example.com",
  event: "purchase",
  ...changes,
});

describe("the person is checked first", () => {
  const sentence = "email or hashed_email required";
  test.each<[string, Record<string, unknown>]>([
    ["nothing at all", {}],
    ["only an event", { event: "purchase" }],
    ["an email of null", { email: null, event: "purchase" }],
    ["email and hashed_email of null", { email: null, hashed_email: null, event: "purchase" }],
    ["an empty email", { email: "", event: "purchase" }],
    ["blanks", { email: " \t\n", hashed_email: "  ", event: "purchase" }],
    ["everything else wrong as well", { value: "x", currency: 5, event: 7, orderId: {} }],
    ["other spellings of the names", { Email: "ada@example.com", hashedEmail: hash, event: "purchase" }],
    ["a prototype that has an email", JSON.parse('{"__proto__":{"email":"ada@example.com"},"event":"x"}')],
  ])("a body with %s is refused: email or hashed_email required", (_what, body) => {
    expect(fault(read(body))).toBe(sentence);
  });

  test("__proto__ in the body sets no field", () => {
    expect(fault(readText('{"__proto__":{"email":"ada@example.com","event":"x"}}'))).toBe(sentence);
  });
});

describe("the event name is checked second", () => {
  test.each([undefined, null, "", "   ", "\n", "\u0001\u0002"])("the event name %j is refused: event required", (name) => {
    expect(fault(read(event({ event: name })))).toBe("event required");
    // Also when the email is not even an address.
    expect(fault(read(event({ event: name, email: "nonsense" })))).toBe("event required");
  });
});

const hashFault = "hashed_email must be the SHA-256 of the lower-cased email as 64 hex characters";
const currencyFault = "currency must be an ISO 4217 code such as USD or EUR";
const valueFault = "value must be a finite JSON number";
const negativeFault = 'value must not be negative; send a refund as an event named "refund"';
const timeFault = "eventTime must be an ISO 8601 time or Unix seconds";
const unstorable = (name: string) => `${name} contains a character that cannot be stored (NUL or half of a surrogate pair)`;

describe("wrong fields", () => {
  const table: [changes: Record<string, unknown>, sentence: string][] = [
    [{ event: 5 }, "event must be a string"],
    [{ event: true }, "event must be a string"],
    [{ event: ["purchase"] }, "event must be a string"],
    [{ event: "e".repeat(101) }, "event is longer than 100 characters"],
    [{ event: "😀".repeat(101) }, "event is longer than 100 characters"],
    [{ event: "a\0b" }, unstorable("event")],
    [{ event: "a\ud800b" }, unstorable("event")],
    [{ email: 5 }, "email must be a string"],
    [{ email: {} }, "email must be a string"],
    [{ email: false }, "email must be a string"],
    [{ email: "ada" }, "email is not an email address"],
    [{ email: "ada@" }, "email is not an email address"],
    [{ email: "@example.com" }, "email is not an email address"],
    [{ email: "ada@example" }, "email is not an email address"],
    [{ email: "ada@@example.com" }, "email is not an email address"],
    [{ email: "ada lovelace@example.com" }, "email is not an email address"],
    [{ email: "a@example.com, b@example.com" }, "email is not an email address"],
    [{ email: hash }, "email is not an email address"],
    [{ email: `${"a".repeat(600)}@example.com` }, "email is longer than 512 characters"],
    [{ email: "ada\0@example.com" }, unstorable("email")],
    [{ email: undefined, hashed_email: "abc" }, hashFault],
    [{ email: undefined, hashed_email: hash.slice(1) }, hashFault],
    [{ email: undefined, hashed_email: `${hash}0` }, hashFault],
    [{ email: undefined, hashed_email: "g".repeat(64) }, hashFault],
    [{ email: undefined, hashed_email: "ada@example.com" }, hashFault],
    [{ email: undefined, hashed_email: 12 }, "hashed_email must be a string"],
    [{ email: " ", hashed_email: "abc" }, hashFault],
    [{ email: "nonsense", hashed_email: hash }, "email is not an email address"],
    [{ value: "49,90" }, valueFault],
    [{ value: "-1" }, valueFault],
    [{ value: "1e3" }, valueFault],
    [{ value: true }, valueFault],
    [{ value: {} }, valueFault],
    [{ value: [5] }, valueFault],
    [{ value: -1 }, negativeFault],
    [{ value: -0.01 }, negativeFault],
    [{ value: 1e12 + 1 }, "value must be at most 1000000000000"],
    [{ value: 1.7e308 }, "value must be at most 1000000000000"],
    [{ currency: "EURO" }, currencyFault],
    [{ currency: "€" }, currencyFault],
    [{ currency: "XXX" }, currencyFault],
    [{ currency: "BTC" }, currencyFault],
    [{ currency: 978 }, "currency must be a string"],
    [{ currency: "E".repeat(513) }, "currency is longer than 512 characters"],
    [{ orderId: "o".repeat(257) }, "orderId is longer than 256 characters"],
    [{ orderId: "😀".repeat(257) }, "orderId is longer than 256 characters"],
    [{ orderId: true }, "orderId must be a string"],
    [{ orderId: {} }, "orderId must be a string"],
    [{ orderId: ["A"] }, "orderId must be a string"],
    [{ leadId: "12345678901234" }, "leadId must be Meta's id of a lead: 15 to 17 digits"],
    [{ leadId: "123456789012345678" }, "leadId must be Meta's id of a lead: 15 to 17 digits"],
    [{ leadId: "l:123456789012345" }, "leadId must be Meta's id of a lead: 15 to 17 digits"],
    [{ leadId: true }, "leadId must be a string"],
    [{ orderId: "\0" }, unstorable("orderId")],
    [{ orderId: "\udc00" }, unstorable("orderId")],
    [{ phone: "5".repeat(513) }, "phone is longer than 512 characters"],
    [{ phone: {} }, "phone must be a string"],
    [{ firstName: 5 }, "firstName must be a string"],
    [{ firstName: "f".repeat(513) }, "firstName is longer than 512 characters"],
    [{ lastName: [] }, "lastName must be a string"],
    [{ lastName: "l".repeat(513) }, "lastName is longer than 512 characters"],
    [{ lastName: "\ud83d" }, unstorable("lastName")],
    [{ eventTime: "yesterday" }, timeFault],
    [{ eventTime: true }, timeFault],
    [{ eventTime: {} }, timeFault],
    [{ eventTime: "2026-13-01" }, timeFault],
    [{ eventTime: "2026-11-14T25:00:00Z" }, timeFault],
    [{ eventTime: "14.11.2026" }, timeFault],
    [{ eventTime: "11/14/2026" }, timeFault],
    [{ eventTime: "2026-11-14T12:00:00+99:99" }, timeFault],
    [{ eventTime: "1e9" }, timeFault],
    [{ eventTime: now / 1000 + 301 }, "eventTime lies in the future"],
    [{ eventTime: new Date(now + 301_000).toISOString() }, "eventTime lies in the future"],
    [{ eventTime: now }, "eventTime lies in the future; it looks like milliseconds, send seconds"],
    [{ eventTime: (now - 90 * day) / 1000 - 1 }, "eventTime is older than 90 days"],
    [{ eventTime: 0 }, "eventTime is older than 90 days"],
    [{ eventTime: -5 }, "eventTime is older than 90 days"],
    [{ eventTime: "1999-12-31" }, "eventTime is older than 90 days"],
  ];
  test.each(table.map(([changes, sentence]) => [shown(changes), changes, sentence] as const))(
    "a wrong field is named in one sentence: %s",
    (_shown, changes, sentence) => {
      expect(fault(read(event(changes)))).toBe(sentence);
    },
  );

  test("a value that is too large for a JSON number is refused", () => {
    expect(fault(readText('{"email":"ada@example.com","event":"x","value":1e999}'))).toBe(valueFault);
    expect(fault(readText('{"email":"ada@example.com","event":"x","value":-1e999}'))).toBe(valueFault);
  });

  test("a day that does not exist is not a time", () => {
    expect(fault(read(event({ eventTime: "2026-09-31" })))).toBe(timeFault);
    expect(fault(read(event({ eventTime: "2026-09-31T10:00:00Z" })))).toBe(timeFault);
  });

  test("no error repeats what the sender wrote", () => {
    for (const name of ["email", "hashed_email", "phone", "firstName", "lastName", "currency", "orderId", "eventTime"]) {
      for (const wrong of ["s3cret\0", `s3cret${"x".repeat(600)}`, { s3cret: 1 }]) {
        const result = read({
          ...event(),
          ...(name === "hashed_email" ? { email: null } : {}),
          [name]: wrong,
        });
        expect(fault(result), name).not.toContain("s3cret");
        expect(fault(result), name).toContain(name);
      }
    }
  });
});

describe("accepted events", () => {
  test("an event needs only an email and a name", () => {
    expect(accepted(read(event()))).toEqual({
      givenName: "purchase",
      name: "purchase",
      value: null,
      currency: "USD",
      orderId: null,
      orderEventId: null,
      eventTime: null,
      person: {
        emailSha256: hash,
        emailGoogleSha256: hash,
        emailMicrosoftSha256: hash,
        emailRedditSha256: hash,
      },
      emailDomain: "example.com",
    });
  });

  test("every field is read, and no plain contact data remains", () => {
    const fields = accepted(
      read(
        event({
          email: " Ada@Example.COM ",
          value: 49.9,
          currency: "eur",
          orderId: " A-1 ",
          eventTime: "2026-11-14T11:59:59.5+00:00",
          firstName: "Ada",
          lastName: "Lovelace",
          phone: "+1 425-555-1234",
        }),
      ),
    );
    expect(fields).toMatchObject({
      name: "purchase",
      value: 49.9,
      currency: "EUR",
      orderId: "A-1",
      eventTime: now - 500,
      emailDomain: "example.com",
      person: {
        emailSha256: hash,
        phoneSha256: sha256("+14255551234"),
        phoneDigitsSha256: sha256("14255551234"),
        firstNameSha256: sha256("ada"),
        lastNameSha256: sha256("lovelace"),
      },
    });
    const text = JSON.stringify(fields).toLowerCase();
    for (const plain of ["ada", "lovelace", "4255551234"]) expect(text).not.toContain(`"${plain}`);
    expect(text).not.toContain("ada@");
    expect(text).not.toContain("5551234");
  });

  test("the event name stays byte for byte as it was written", () => {
    for (const name of ["Purchase", " purchase ", "购买", "a b", "😀".repeat(100), "e".repeat(100), "x\u2028"])
      expect(accepted(read(event({ event: name }))).name).toBe(name);
  });

  test("hashed_email is read in any case and gives no other form and no domain", () => {
    const fields = accepted(read({ hashed_email: ` ${hash.toUpperCase()} `, event: "x" }));
    expect(fields.person).toEqual({ emailSha256: hash });
    expect(fields.emailDomain).toBeNull();
  });

  test("with email and hashed_email, the email is used and hashed_email is ignored", () => {
    for (const given of ["0".repeat(64), "not a hash", 5, null])
      expect(accepted(read(event({ hashed_email: given }))).person.emailSha256).toBe(hash);
  });

  test("with a blank email, hashed_email is used", () => {
    expect(accepted(read({ email: "  ", hashed_email: hash, event: "x" })).person).toEqual({
      emailSha256: hash,
    });
  });

  test.each([null, "", "  ", "\t"])("%j in an optional field counts as absent", (blank) => {
    const names = ["value", "currency", "orderId", "firstName", "lastName", "phone", "eventTime", "items"];
    expect(accepted(read(event(Object.fromEntries(names.map((name) => [name, blank])))))).toEqual(accepted(read(event())));
  });

  test.each([
    [0, 0],
    [0.1, 0.1],
    [1e12, 1e12],
    [5e-324, 5e-324],
  ])("the value %d is accepted", (value, expected) => {
    expect(accepted(read(event({ value }))).value).toBe(expected);
  });

  test("a value of minus zero is zero", () => {
    const { value } = accepted(readText('{"email":"ada@example.com","event":"x","value":-0}'));
    expect(Object.is(value, 0)).toBe(true);
  });

  test.each(["usd", "Usd", " eur ", "JPY", "KWD"])("the currency %j is accepted", (currency) => {
    expect(accepted(read(event({ currency }))).currency).toBe(currency.trim().toUpperCase());
  });

  test.each([
    ["1001", "1001"],
    ["12345678901234567890", "12345678901234567890"],
    ["12345678901234567891", "12345678901234567891"],
    ["1.10", "1.10"],
    ["-7", "-7"],
    ["1e3", "1e3"],
    ["0", "0"],
  ])("an orderId given as the JSON number %s is the text %j", (written, text) => {
    expect(accepted(readText(`{"email":"ada@example.com","event":"x","orderId":${written}}`)).orderId).toBe(text);
  });

  test("a leadId is kept exactly, as text and as a JSON number that is not exact", () => {
    expect(accepted(read(event({ leadId: " 123456789012345 " }))).leadId).toBe("123456789012345");
    expect(accepted(readText(`{"email":"ada@example.com","event":"x","leadId":12345678901234567}`)).leadId).toBe(
      "12345678901234567",
    );
    expect(accepted(read(event({ leadId: null })))).not.toHaveProperty("leadId");
  });

  test("of repeated orderIds the last counts, and a nested one is ignored", () => {
    const start = '{"email":"ada@example.com","event":"x"';
    expect(accepted(readText(`${start},"orderId":1,"orderId":12345678901234567890}`)).orderId).toBe("12345678901234567890");
    expect(accepted(readText(`${start},"orderId":7,"lines":[{"orderId":8}],"x":{"orderId":9}}`)).orderId).toBe("7");
    expect(accepted(readText(`${start},"x":{"orderId":9}}`)).orderId).toBeNull();
  });

  test("a phone may be a JSON number", () => {
    const { person } = accepted(readText('{"email":"ada@example.com","event":"x","phone":14255551234}', "US"));
    expect(person.phoneSha256).toBe(sha256("+14255551234"));
  });

  test("a local phone number belongs to the site's country, and is dropped without one", () => {
    expect(accepted(read(event({ phone: "030 901820" }), "DE")).person.phoneSha256).toBe(sha256("+4930901820"));
    expect(accepted(read(event({ phone: "030 901820" }))).person.phoneSha256).toBeUndefined();
  });

  test("an invalid phone number does not stop the event", () => {
    expect(accepted(read(event({ phone: "call me" }))).person.phoneSha256).toBeUndefined();
  });

  test("the longest allowed texts are accepted, counted in characters", () => {
    const fields = accepted(read(event({ orderId: "😀".repeat(256), firstName: "é".repeat(512), event: "e".repeat(100) })));
    expect(fields.orderId).toBe("😀".repeat(256));
  });

  test.each([
    ["49.90", 49.9],
    [" 12 ", 12],
    ["0", 0],
  ])("a value may be decimal text: %j", (value, expected) => {
    expect(accepted(read(event({ value }))).value).toBe(expected);
  });

  test("refunds of one order have an order event id each, and the same refund always the same", () => {
    const idOf = (refundId?: unknown) => accepted(read(event({ event: "refund", orderId: "A-1", refundId }))).orderEventId;
    expect(idOf()).toBeNull();
    expect(idOf("r-1")).toBe(idOf("r-1"));
    expect(idOf("r-1")).not.toBe(idOf("r-2"));
    expect(idOf(7)).toBe(idOf("7"));
    expect(
      accepted(readText('{"email":"a@b.de","event":"refund","orderId":"A","refundId":820982911946154508}')).orderEventId,
    ).not.toBe(
      accepted(readText('{"email":"a@b.de","event":"refund","orderId":"A","refundId":820982911946154509}')).orderEventId,
    );
  });

  test("click ids are read with the time of the click, in the table's spelling", () => {
    const clickTime = "2026-11-01T00:00:00Z";
    const { clickIds } = accepted(read(event({ clickIds: { GCLID: "Cj0", unknown: "x", fbclid: " " }, clickTime })));
    expect(clickIds).toEqual({ gclid: { value: "Cj0", seenAt: Date.parse(clickTime) } });
    expect(accepted(read(event({ clickIds: { gclid: "Cj0" } }))).clickIds?.gclid?.seenAt).toBe(now);
    expect(fault(read(event({ clickIds: "Cj0" })))).toBe("clickIds must be an object");
    expect(fault(read(event({ clickIds: { gclid: 5 } })))).toBe("clickIds.gclid must be a string");
    expect(fault(read(event({ clickIds: { gclid: "x" }, clickTime: "then" })))).toContain("clickTime must be");
  });

  test("a phone number or a click id replaces the email where the site allows it", () => {
    const without = (fields: Record<string, unknown>, conversionsWithoutEmail = true) =>
      readFields({ fields, exact: () => fields }, { id: "site", settings: { country: null, conversionsWithoutEmail } }, now);
    const call = { event: "call", phone: "+4930123456" };
    expect(accepted(without(call)).person).toEqual({
      phoneSha256: sha256("+4930123456"),
      phoneDigitsSha256: sha256("4930123456"),
    });
    expect(accepted(without({ event: "call", clickIds: { gclid: "Cj0" } })).person).toEqual({});
    for (const refused of [
      without(call, false),
      without({ event: "call", phone: "none" }),
      without({ event: "call", clickIds: { x: "1" } }),
    ])
      expect(fault(refused)).toBe("email or hashed_email required");
  });

  test("fields that look like known ones are found, and nothing else", () => {
    expect(findLookAlikes(event({ order_id: "A-1", Phone_Number: "1", plan: "gold", amount: 5 }))).toEqual([
      { name: "order_id", meant: "orderId" },
      { name: "Phone_Number", meant: "phone" },
      { name: "amount", meant: "value" },
    ]);
    expect(findLookAlikes(event({ order_id: "A-1", orderId: "A-1", plan: "gold" }))).toBeUndefined();
  });

  test("unknown fields are accepted and left out", () => {
    const fields = accepted(read(event({ plan: "gold", lines: [{ sku: "s3cret" }], constructor: 1 })));
    expect(JSON.stringify(fields)).not.toMatch(/gold|s3cret|constructor/);
  });

  test.each([
    ["2026-11-14", Date.UTC(2026, 10, 14)],
    ["2026-11-14T10:30", Date.UTC(2026, 10, 14, 10, 30)],
    ["2026-11-14T10:30:15Z", Date.UTC(2026, 10, 14, 10, 30, 15)],
    ["2026-11-14 10:30:15", Date.UTC(2026, 10, 14, 10, 30, 15)],
    ["2026-11-14t10:30:15z", Date.UTC(2026, 10, 14, 10, 30, 15)],
    ["2026-11-14T12:30:15+02:00", Date.UTC(2026, 10, 14, 10, 30, 15)],
    ["2026-11-14T12:30:15+0200", Date.UTC(2026, 10, 14, 10, 30, 15)],
    ["2026-11-14T10:30:15.123456Z", Date.UTC(2026, 10, 14, 10, 30, 15, 123)],
    [" 2026-11-14T10:30:15Z ", Date.UTC(2026, 10, 14, 10, 30, 15)],
    [now / 1000, now],
    [now / 1000 - 0.5, now - 500],
    [String(now / 1000), now],
    [now / 1000 + 300, now + 300_000],
    [(now - 90 * day) / 1000, now - 90 * day],
  ])("the eventTime %j is accepted", (given, time) => {
    expect(accepted(read(event({ eventTime: given }))).eventTime).toBe(time);
  });
});

describe("hostile JSON", () => {
  test("a numeric orderId is read even next to the deepest nesting", () => {
    const depth = 30_000;
    const deep = "[".repeat(depth) + "]".repeat(depth);
    for (const name of ["orderId", "phone"]) {
      const text = `{"email":"ada@example.com","event":"x","${name}":12345678901,"deep":${deep}}`;
      expect(text.length).toBeLessThan(64 * 1024);
      expect(readText(text), name).not.toBeInstanceOf(FieldFault);
    }
  });

  test("a body of 64 KiB with thousands of fields is read quickly", () => {
    const many = Object.fromEntries(Array.from({ length: 4000 }, (_, i) => [`f${i}`, i]));
    const text = JSON.stringify({ ...event(), orderId: 5, ...many });
    const cpuMs = cpuMsOf(() => expect(accepted(readText(text)).orderId).toBe("5"));
    expect(cpuMs).toBeLessThan(5000);
  });

  test("texts built to slow down patterns are refused quickly", () => {
    const texts = ["a@".repeat(30_000), `a@${"a.".repeat(30_000)}`, `"${"\\\\".repeat(30_000)}`, "0".repeat(60_000)];
    const names = ["email", "hashed_email", "phone", "eventTime", "currency", "orderId", "firstName"];
    const cpuMs = cpuMsOf(() => {
      for (const text of texts)
        for (const name of names) read({ event: "x", email: name === "hashed_email" ? null : "ada@example.com", [name]: text });
    });
    expect(cpuMs).toBeLessThan(5000);
  });
});

describe("an address in a field that is no contact field", () => {
  test("is masked in the event name and order id; the given name and the order event id are kept", () => {
    const [name, orderId] = ["lead ada@example.com", "A-ada@example.com"];
    const masked = accepted(read({ email: "bob@example.com", event: name, orderId }));
    expect(masked).toMatchObject({
      givenName: name,
      name: `lead email-${hash.slice(0, 16)}`,
      orderId: `email-${sha256("A-ada@example.com").slice(0, 16)}`,
      orderEventId: orderEventId("site", name, orderId),
    });
  });

  test("is masked in an extra field, and a field that is an address is left out", () => {
    const settings = { "map.a": "extra.note", "map.b": "extra.contact" };
    const site = { connections: [{ settings }] } as unknown as Site;
    const fields = { note: " ask ada@example.com ", contact: "ada@example.com" };
    expect(readExtra(fields, site)).toEqual({ note: `ask email-${hash.slice(0, 16)}` });
  });

  test("tax and shipping are kept where a value rule needs them, and nowhere else", () => {
    const siteWith = (settings: Record<string, string>) => ({ connections: [{ settings }] }) as unknown as Site;
    const fields = { tax: 9.5, shipping: "4.90", note: "x" };
    expect(readExtra(fields, siteWith({ "value.purchase": "net 20%" }))).toEqual({ tax: 9.5, shipping: "4.90" });
    expect(readExtra(fields, siteWith({ "value.purchase": "20%" }))).toBeNull();
  });

  test("leaves other events as they are", () => {
    const plain = accepted(read({ email: "bob@example.com", event: "lead", orderId: "A-1" }));
    expect(plain).toMatchObject({ givenName: "lead", name: "lead", orderId: "A-1", orderEventId: null });
  });
});
