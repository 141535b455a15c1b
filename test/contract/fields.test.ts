// The fields step: one sentence names the first wrong field; valid fields reach the platforms.

import { beforeAll, describe, expect, test } from "vitest";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import { newInstallation, type Installation, type Relay, type TestSite } from "../support/relay.ts";
import { sha256Of } from "../support/sha256.ts";
import { accepted, deduped, freshEvent, jsonError, summarize } from "./answers.ts";

const ada = sha256Of("ada@example.com");

const emailRequired = "email or hashed_email required";
const eventRequired = "event required";
const noAddress = "email is not an email address";
const noHash = "hashed_email must be the SHA-256 of the lower-cased email as 64 hex characters";
const noNumber = "value must be a finite JSON number";
const negative = 'value must not be negative; send a refund as an event named "refund"';
const noTime = "eventTime must be an ISO 8601 time or Unix seconds";
const noCurrency = "currency must be an ISO 4217 code such as USD or EUR";
const future = "eventTime lies in the future";
const tooOld = "eventTime is older than 90 days";
const tooLong = (name: string, limit: number) => `${name} is longer than ${limit} characters`;

const minute = 60_000;
const day = 24 * 60 * minute;
const iso = (ms: number) => new Date(ms).toISOString();

/** Returns a day that does not exist, in a recent month of fewer than 31 days: 2026-09-31. */
function impossibleDay(): string {
  const at = new Date();
  do at.setUTCDate(0);
  while (at.getUTCDate() === 31);
  return `${iso(at.getTime()).slice(0, 8)}${at.getUTCDate() + 1}`;
}

const processed = (event: string) => accepted(event, { webhook: { ok: true } });

/** Writes an event as JSON text; its order id is the given JSON text. */
const numbered = (orderId: string) => `{"email":"ada@example.com","event":"purchase","orderId":${orderId}}`;

// The engine of the store has no part in this step. src/inbound/fields.test.ts has every form of every field.
describe("event fields", () => {
  let home: Installation;
  let relay: Relay;
  let receiver: Receiver;
  let site: TestSite;
  let german: TestSite;

  beforeAll(async () => {
    receiver = await startReceiver();
    home = await newInstallation("sqlite");
    site = await home.addSite("shop.example");
    german = await home.addSite("laden.example", "country=DE");
    for (const { host } of [site, german]) {
      await home.run("connection", "add", host, "webhook", `url=${receiver.url}/${host}`);
    }
    relay = await home.start();
  });

  const send = (event: unknown) => relay.post(site.key, event);

  /** Sends an event that must be accepted, and returns the conversion that the receiver got. */
  async function received(event: unknown, key = site.key): Promise<Record<string, unknown>> {
    const before = receiver.got.length;
    const answer = await relay.post(key, event);
    expect([answer.status, answer.text]).toEqual([200, expect.stringContaining('"webhook":{"ok":true}')]);
    expect(receiver.got.length).toBe(before + 1);
    return receiver.bodies().at(-1) ?? {};
  }

  test("an event without its first fields is answered: email or hashed_email required", async () => {
    const events = [
      {},
      { event: "purchase" },
      { email: null, event: "purchase" },
      { email: "", hashed_email: "", event: "purchase" },
      { email: " \t", hashed_email: null, event: "purchase" },
      { mail: "ada@example.com", event: "purchase" },
      // This fault is reported before every other one.
      { value: "much", currency: "money", eventTime: "soon" },
      { event: 5, orderId: true },
    ];
    for (const event of events)
      expect.soft(summarize(await send(event)), JSON.stringify(event)).toEqual(jsonError(400, emailRequired));
  });

  test("an event without its first fields is answered: event required", async () => {
    const events = [
      { email: "ada@example.com" },
      { email: "ada@example.com", event: null },
      { email: "ada@example.com", event: "" },
      { hashed_email: ada, event: "  " },
      // This fault is reported before the format of any field.
      { email: "no address", value: -1 },
      { email: 5 },
      { hashed_email: "short", currency: "money" },
    ];
    for (const event of events)
      expect.soft(summarize(await send(event)), JSON.stringify(event)).toEqual(jsonError(400, eventRequired));
  });

  test("a wrong field is answered with a sentence that names it", async () => {
    const wrong: readonly [what: string, error: string, changes: () => Record<string, unknown>][] = [
      ["an email without @", noAddress, () => ({ email: "ada" })],
      ["an email without a domain", noAddress, () => ({ email: "ada@" })],
      ["an email without a name", noAddress, () => ({ email: "@example.com" })],
      ["an email without a top-level domain", noAddress, () => ({ email: "ada@example" })],
      ["an email with a space inside", noAddress, () => ({ email: "ada @example.com" })],
      ["an email with a display name", noAddress, () => ({ email: "Ada <ada@example.com>" })],
      ["two emails in one", noAddress, () => ({ email: "ada@example.com,bob@example.com" })],
      ["a bad email together with a good hash", noAddress, () => ({ email: "ada", hashed_email: ada })],
      ["a number as email", "email must be a string", () => ({ email: 5 })],
      ["a list as email", "email must be a string", () => ({ email: ["ada@example.com"] })],
      ["an endless email", tooLong("email", 512), () => ({ email: `${"a".repeat(501)}@example.com` })],
      ["a short hash", noHash, () => ({ email: null, hashed_email: "abc" })],
      ["a plain email as hash", noHash, () => ({ email: null, hashed_email: "ada@example.com" })],
      ["a hash of 63 characters", noHash, () => ({ email: "", hashed_email: ada.slice(1) })],
      ["a hash of 65 characters", noHash, () => ({ email: " ", hashed_email: `${ada}0` })],
      ["a hash that is not hex", noHash, () => ({ email: null, hashed_email: ada.replace(/.$/, "g") })],
      ["a number as hash", "hashed_email must be a string", () => ({ email: null, hashed_email: 5 })],
      ["a number as event", "event must be a string", () => ({ event: 5 })],
      ["an object as event", "event must be a string", () => ({ event: { name: "purchase" } })],
      ["an event of 101 letters", tooLong("event", 100), () => ({ event: "e".repeat(101) })],
      ["an event of 101 signs", tooLong("event", 100), () => ({ event: "𝒪".repeat(101) })],
      ["a value with a comma", noNumber, () => ({ value: "49,90" })],
      ["a value that is true", noNumber, () => ({ value: true })],
      ["an object as value", noNumber, () => ({ value: { amount: 5 } })],
      ["a negative value", negative, () => ({ value: -0.01 })],
      ["a value beyond any price", "value must be at most 1000000000000", () => ({ value: 1.7e308 })],
      ["a currency of two letters", noCurrency, () => ({ currency: "US" })],
      ["a currency of four letters", noCurrency, () => ({ currency: "EURO" })],
      ["a currency as a sign", noCurrency, () => ({ currency: "€" })],
      ["a currency that does not exist", noCurrency, () => ({ currency: "ABC" })],
      ["a number as currency", "currency must be a string", () => ({ currency: 978 })],
      ["an order id that is true", "orderId must be a string", () => ({ orderId: true })],
      ["an object as order id", "orderId must be a string", () => ({ orderId: { id: 1 } })],
      ["an order id of 257 letters", tooLong("orderId", 256), () => ({ orderId: "o".repeat(257) })],
      ["a list as phone", "phone must be a string", () => ({ phone: ["+14255551234"] })],
      ["a phone of 513 digits", tooLong("phone", 512), () => ({ phone: "5".repeat(513) })],
      ["a number as first name", "firstName must be a string", () => ({ firstName: 5 })],
      ["an endless first name", tooLong("firstName", 512), () => ({ firstName: "A".repeat(513) })],
      ["a last name that is false", "lastName must be a string", () => ({ lastName: false })],
      ["an endless last name", tooLong("lastName", 512), () => ({ lastName: "A".repeat(513) })],
      ["a time in words", noTime, () => ({ eventTime: "yesterday" })],
      ["a time in another form", noTime, () => ({ eventTime: "14.11.2026" })],
      ["a time that is true", noTime, () => ({ eventTime: true })],
      ["a day that no calendar has", noTime, () => ({ eventTime: `${impossibleDay()}T12:00:00Z` })],
      ["a time in 6 minutes", future, () => ({ eventTime: iso(Date.now() + 6 * minute) })],
      ["seconds in 6 minutes", future, () => ({ eventTime: Date.now() / 1000 + 360 })],
      ["milliseconds", `${future}; it looks like milliseconds, send seconds`, () => ({ eventTime: Date.now() })],
      ["a time of 91 days ago", tooOld, () => ({ eventTime: iso(Date.now() - 91 * day) })],
      ["a time just over 90 days ago", tooOld, () => ({ eventTime: iso(Date.now() - 90 * day - 1000) })],
      ["the beginning of time", tooOld, () => ({ eventTime: 0 })],
    ];
    for (const [what, error, changes] of wrong)
      expect.soft(summarize(await send(freshEvent(changes()))), what).toEqual(jsonError(400, error));
  });

  test("a number too large for a double is rejected as a value", async () => {
    const answer = await send('{"email":"ada@example.com","event":"purchase","value":1e999}');
    expect(summarize(answer)).toEqual(jsonError(400, noNumber));
  });

  test("the first of several wrong fields is named: email, value, currency, then the others", async () => {
    const wrong = { email: "ada", value: -1, currency: "money", orderId: "o".repeat(257) };
    const errors: string[] = [];
    for (const name of Object.keys(wrong)) {
      const answer = await send(freshEvent({ ...wrong }));
      errors.push(JSON.parse(answer.text).error);
      Object.assign(wrong, { [name]: freshEvent({ value: 1, currency: "EUR" })[name] });
    }
    expect(errors).toEqual([noAddress, negative, noCurrency, tooLong("orderId", 256)]);
    expect(summarize(await send(freshEvent(wrong)))).toEqual(processed("purchase"));
  });

  test("no error repeats the value that was sent", async () => {
    for (const changes of [{ email: "ada(at)secret.example" }, { phone: ["secret"] }, { value: "secret" }]) {
      const answer = await send(freshEvent(changes));
      expect([answer.status, answer.text]).toEqual([400, expect.not.stringContaining("secret")]);
    }
  });

  test("an event rejected for a field can be sent again corrected", async () => {
    const event = freshEvent();
    expect((await send({ ...event, value: "5 EUR" })).status).toBe(400);
    expect(summarize(await send({ ...event, value: 5 }))).toEqual(processed("purchase"));
  });

  test("an event needs only an email and a name; the currency is USD and the time is now", async () => {
    const before = Date.now();
    const body = await received({ email: "smallest@example.com", event: "lead" });
    expect(body).toEqual({
      platformEventId: expect.any(String),
      event: "lead",
      eventTime: expect.any(String),
      value: null,
      currency: "USD",
      orderId: null,
      emailSha256: sha256Of("smallest@example.com"),
      phoneSha256: null,
      clickIds: {},
      utm: {},
      consent: "unknown",
    });
    const time = Date.parse(String(body.eventTime));
    expect(time).toBeGreaterThanOrEqual(before);
    expect(time).toBeLessThanOrEqual(Date.now());
  });

  test("optional fields that are null or blank count as absent", async () => {
    const [nothing, blank] = [null, " \t"].map((empty) => ({
      value: empty,
      currency: empty,
      orderId: empty,
      firstName: empty,
      lastName: empty,
      phone: empty,
      eventTime: empty,
    }));
    const absent = { value: null, currency: "USD", orderId: null, phoneSha256: null };
    expect(await received({ email: "null@example.com", event: "lead", ...nothing })).toMatchObject(absent);
    expect(await received({ email: "blank@example.com", event: "lead", ...blank })).toMatchObject(absent);
    // The same event without the blank fields is a duplicate.
    expect(summarize(await send({ email: "blank@example.com", event: "lead" }))).toEqual(deduped);
  });

  test("an email is trimmed and lower-cased before it is hashed", async () => {
    const body = await received(freshEvent({ email: "  Ada@Example.COM\n" }));
    expect(body.emailSha256).toBe(ada);
  });

  test("a hashed email is not hashed again, and its upper case is lowered", async () => {
    expect((await received(freshEvent({ email: undefined, hashed_email: ada }))).emailSha256).toBe(ada);
    const upper = freshEvent({ email: null, hashed_email: ` ${ada.toUpperCase()} ` });
    expect((await received(upper)).emailSha256).toBe(ada);
  });

  test("email is used instead of hashed_email, even if hashed_email is invalid", async () => {
    const both = freshEvent({ hashed_email: sha256Of("bob@example.com") });
    expect((await received(both)).emailSha256).toBe(ada);
    expect((await received(freshEvent({ hashed_email: "no hash" }))).emailSha256).toBe(ada);
  });

  test.each([0, 0.1, 49.9, 1e-7, 123456789.12, 1e12])("the value %d arrives as it was sent", async (value) => {
    expect((await received(freshEvent({ value }))).value).toBe(value);
  });

  test.each([
    ["eur", "EUR"],
    ["Gbp", "GBP"],
    [" jpy ", "JPY"],
    ["USD", "USD"],
  ])("the currency %j is %s", async (currency, code) => {
    expect((await received(freshEvent({ value: 1, currency }))).currency).toBe(code);
  });

  test("order ids that are JSON numbers keep every digit", async () => {
    for (const orderId of ["12345678901234567890", "12345678901234567891", "7", "10.50"]) {
      expect((await received(numbered(orderId))).orderId).toBe(orderId);
    }
    // A number and a text with the same digits are one order.
    expect(summarize(await send(numbered("12345678901234567890")))).toEqual(deduped);
    expect(summarize(await send(numbered('"12345678901234567891"')))).toEqual(deduped);
  });

  test("a number called orderId inside another field is not the order id", async () => {
    const body = '{"email":"ada@example.com","event":"purchase","more":{"orderId":999},"orderId":998}';
    expect((await received(body)).orderId).toBe("998");
  });

  test("a phone number is hashed in its international form, as text or as a JSON number", async () => {
    const hash = sha256Of("+14255551234");
    expect((await received(freshEvent({ phone: "+1 (425) 555-1234" }))).phoneSha256).toBe(hash);
    expect((await received(freshEvent({ phone: "0014255551234" }), german.key)).phoneSha256).toBe(hash);
    const local = { phone: "030 12345678" };
    expect((await received(freshEvent(local), german.key)).phoneSha256).toBe(sha256Of("+493012345678"));
    const number = freshEvent({ phone: 3012345678 });
    expect((await received(number, german.key)).phoneSha256).toBe(sha256Of("+493012345678"));
    // A number without a country code is ambiguous.
    expect((await received(freshEvent(local))).phoneSha256).toBeNull();
  });

  test("an invalid phone number is left out, and the event is accepted", async () => {
    expect((await received(freshEvent({ phone: "call me" }))).phoneSha256).toBeNull();
  });

  test.each([
    "purchase",
    "Purchase",
    " lead ",
    "Achat terminé",
    "購入 ☕️ 👩‍🚀",
    'quote " and \\ backslash',
    "tab\tand\nline",
    "e\u0301 is not \u00e9",
    "__proto__",
  ])("the event name %j is echoed and sent byte for byte", async (name) => {
    const before = receiver.got.length;
    expect(summarize(await send(freshEvent({ event: name })))).toEqual(processed(name));
    expect(receiver.bodies()[before]?.event).toBe(name);
  });

  test("strings of the maximum length are accepted, counted in characters", async () => {
    const event = freshEvent({
      event: "☕".repeat(100),
      orderId: "𝒪".repeat(256),
      firstName: "𝒜".repeat(512),
      lastName: "L".repeat(512),
    });
    expect((await received(event)).orderId).toBe("𝒪".repeat(256));
  });

  test.each(["orderId", "event", "firstName"])("%s with an invalid character is rejected", async (name) => {
    const error = `${name} contains a character that cannot be stored (NUL or half of a surrogate pair)`;
    for (const text of ["a\0b", "a\ud800b"]) {
      expect(summarize(await send(freshEvent({ [name]: text })))).toEqual(jsonError(400, error));
    }
  });

  test("unknown fields are accepted and not sent to platforms", async () => {
    const body = await received(freshEvent({ utm_source: "x", gclid: "y", emailSha256: "z", extra: [1] }));
    expect(Object.keys(body)).toHaveLength(11);
    expect(body).toMatchObject({ emailSha256: ada, clickIds: {}, utm: {} });
  });

  test("items reach the platforms, and an event without them has no such field", async () => {
    const items = [
      { id: "SKU-1", name: "Mug", category: "Kitchen", brand: "North", price: 9.95, quantity: 2 },
      { id: 12345, price: 30 },
    ];
    expect((await received(freshEvent({ value: 49.9, items }))).items).toEqual([
      items[0],
      { id: "12345", price: 30, quantity: 1 },
    ]);
    for (const none of [[], null, " "]) expect(await received(freshEvent({ items: none }))).not.toHaveProperty("items");
  });

  test("the command line shows the items of an event, each on its line", async () => {
    const items = [{ id: "SKU-1", name: "Mug\u001b[31m", brand: "North", price: 9.95, quantity: 2 }, { id: "SKU-2" }];
    const { platformEventId } = await received(freshEvent({ currency: "EUR", items }));
    const trace = await home.run("event", "show", String(platformEventId));
    const unknown = { name: null, category: null, brand: null, price: null };
    expect(trace.items).toEqual([
      { ...unknown, ...items[0] },
      { ...unknown, id: "SKU-2", quantity: 1 },
    ]);
    const text = await home.print("event", "show", String(platformEventId));
    expect(text).toContain("items       2 × SKU-1, 9.95 EUR, Mug·[31m, North\n              1 × SKU-2\n");
  });

  test("ids of items that are JSON numbers keep every digit", async () => {
    const { email, event, orderId } = freshEvent();
    const text = JSON.stringify({ email, event, orderId }).replace(/\}$/, ',"items":[{"id":12345678901234567891}]}');
    expect((await received(text)).items).toEqual([{ id: "12345678901234567891", quantity: 1 }]);
  });

  test.each([
    ["items must be a list of objects", { id: "a" }],
    ["items has more than 100 entries", Array.from({ length: 101 }, () => ({ id: "a" }))],
    ["items[1] must be an object", [{ id: "a" }, "b"]],
    ["items[0].id required", [{ sku: "a" }]],
    ["items[0].id is longer than 128 characters", [{ id: "i".repeat(129) }]],
    ["items[1].name must be a string", [{ id: "a" }, { id: "b", name: 5 }]],
    ["items[3].price must be a finite JSON number", [{ id: "a" }, { id: "b" }, { id: "c" }, { id: "d", price: "9.90" }]],
    ["items[0].price must not be negative", [{ id: "a", price: -1 }]],
    ["items[0].quantity must be a whole number from 1 to 1000000", [{ id: "a", quantity: 0.5 }]],
  ])("wrong items are answered: %s", async (error, items) => {
    expect(summarize(await send(freshEvent({ items })))).toEqual(jsonError(400, error));
  });

  test("items play no part in duplicates", async () => {
    const event = freshEvent({ items: [{ id: "a" }] });
    await received(event);
    expect(summarize(await send({ ...event, items: [{ id: "b", quantity: 2 }] }))).toEqual(deduped);
  });

  test("eventTime may be ISO 8601 with any offset, a date, or Unix seconds", async () => {
    const at = Math.floor((Date.now() - 3 * day) / 1000) * 1000;
    const text = iso(at).slice(0, 19);
    const shifted = iso(at + 5.5 * 60 * minute).slice(0, 19);
    const forms: [unknown, number][] = [
      [`${text}Z`, at],
      [`${text}.250Z`, at + 250],
      [`${text}z`, at],
      [`${text}+00:00`, at],
      [`${shifted}+05:30`, at],
      [`${shifted}+0530`, at],
      [`${text.replace("T", " ")}Z`, at],
      [text, at],
      [text.slice(0, 10), Date.parse(text.slice(0, 10))],
      [at / 1000, at],
      [at / 1000 + 0.5, at + 500],
      [String(at / 1000), at],
    ];
    for (const [eventTime, expected] of forms) {
      const body = await received(freshEvent({ eventTime }));
      expect([eventTime, body.eventTime]).toEqual([eventTime, iso(expected)]);
    }
  });

  test("eventTime may be up to five minutes ahead and ninety days ago", async () => {
    for (const at of [Date.now() + 4 * minute, Date.now() - 90 * day + minute]) {
      expect((await received(freshEvent({ eventTime: iso(at) }))).eventTime).toBe(iso(at));
    }
  });
});
