import { describe, expect, test } from "vitest";
import { microsoftAds } from "./index.ts";
import { bearer, type Fields, post, runStandin } from "../shared/testCalls.ts";

const { known } = microsoftAds;
const { handle: microsoft } = await runStandin("microsoft_ads");

const emailSha256 = "ec81f3ac7b2b19675bab9d54cf416f9f18cff87c97da5cca82c0f0891bc40602";

const event = (changes: Fields = {}): Fields => ({
  eventType: "custom",
  eventId: "evt-10042",
  eventName: "purchase",
  eventTime: 1_794_648_600,
  eventSourceUrl: "https://shop.example/thanks",
  adStorageConsent: "G",
  userData: { msclkid: "dd4afccc-b1c9-4a4c-ad95-44dd7e5006ab", em: emailSha256 },
  customData: { transactionId: "ord-10042", value: 49.9, currency: "EUR" },
  ...changes,
});
const send = (data: unknown, root: Fields = {}, token: string = known.tagToken, tag: string = known.uetTagId) =>
  post(`${microsoft.origin}/v1/${tag}/events`, { data, dataProvider: "relay", ...root }, bearer(token));
const detailsOf = (body: unknown) => (body as { error: { details: Fields[] } }).error.details;

describe("the Conversions API", () => {
  test("the documented event is accepted", async () => {
    const { status, body } = await send([event()]);
    expect([status, body]).toEqual([200, { eventsReceived: 1 }]);
    expect(microsoft.accepted).toMatchObject([{ id: "evt-10042", name: "purchase", count: 1 }]);
    expect(microsoft.received[0]?.verdict).toBe("accepted");
  });

  test.each<[string, Fields, string, string]>([
    ["an unknown type", { eventType: "purchase" }, "eventType", "InvalidEnumValue"],
    ["no time", { eventTime: undefined }, "eventTime", "Empty"],
    ["a time in milliseconds", { eventTime: 1_794_648_600_000 }, "eventTime", "InvalidEventTime"],
    ["a time as text", { eventTime: "1794648600" }, "eventTime", "InvalidEventTime"],
    ["a time eight days ago", { eventTime: 1_794_648_600 - 8 * 86_400 }, "eventTime", "InvalidEventTime"],
    ["no person at all", { userData: undefined }, "userData", "Empty"],
    ["only a browser", { userData: { clientUserAgent: "Mozilla/5.0" } }, "userData", "Empty"],
    ["a page load without its page", { eventType: "pageLoad", eventSourceUrl: undefined }, "eventSourceUrl", "Empty"],
    ["no name", { eventName: undefined }, "eventName", "Empty"],
    ["no id", { eventId: undefined }, "eventId", "Empty"],
    ["a flag of the request", { continueOnValidationError: true }, "continueOnValidationError", "InvalidValue"],
    ["the provider", { dataProvider: "relay" }, "dataProvider", "InvalidValue"],
    ["consent in words", { adStorageConsent: "granted" }, "adStorageConsent", "InvalidEnumValue"],
    ["a value as text", { customData: { value: "49.90" } }, "customData.value", "InvalidValue"],
    [
      "a click id without dashes",
      { userData: { msclkid: "dd4afcccb1c94a4cad9544dd7e5006ab" } },
      "userData.msclkid",
      "InvalidValue",
    ],
  ])("%s is an error", async (_, changes, field, errorCode) => {
    const { status, body } = await send([event(changes)]);
    expect(status).toBe(400);
    expect(body).toMatchObject({ error: { code: "ValidationError" } });
    expect(detailsOf(body)).toContainEqual(
      expect.objectContaining({ index: 0, propertyName: `data[0].${field}`, errorCode, isWarning: false }),
    );
    expect(microsoft.accepted).toEqual([]);
  });

  test("a plain email is removed with a warning, and logged", async () => {
    const userData = { msclkid: "dd4afccc-b1c9-4a4c-ad95-44dd7e5006ab", em: "john@contoso.com" };
    const { status, body } = await send([event({ userData })]);
    expect([status, body]).toMatchObject([200, { eventsReceived: 1, error: { code: "ValidationWarning" } }]);
    expect(detailsOf(body)).toMatchObject([{ propertyName: "data[0].userData.em", errorCode: "InvalidSha256", isWarning: true }]);
    expect(microsoft.received[0]?.verdict).toBe("partial");
  });

  test("an event with only an invalid hash has no match key", async () => {
    const { status, body } = await send([event({ userData: { em: emailSha256.toUpperCase() } })]);
    expect(status).toBe(400);
    expect(detailsOf(body).map(({ propertyName }) => propertyName)).toContain("data[0].userData");
  });

  test("one invalid event rejects the batch, unless the request says to continue", async () => {
    const batch = [event(), event({ eventTime: 5 })];
    expect((await send(batch)).status).toBe(400);
    expect(microsoft.accepted).toEqual([]);
    const { status, body } = await send(batch, { continueOnValidationError: true });
    expect([status, body]).toMatchObject([200, { eventsReceived: 1, error: { details: [{ index: 1 }] } }]);
    expect((await send([event({ eventTime: 5 })], { continueOnValidationError: true })).status).toBe(400);
  });

  test("only the first ten problems are listed", async () => {
    const batch = [event(), ...Array.from({ length: 14 }, () => event({ eventTime: 5 }))];
    const { body } = await send(batch, { continueOnValidationError: true });
    expect(body).toMatchObject({ eventsReceived: 1 });
    expect(detailsOf(body)).toHaveLength(10);
  });

  test("unknown fields are ignored, and logged", async () => {
    const { status, body } = await send([event({ orderId: "ord-10042" })]);
    expect([status, body]).toEqual([200, { eventsReceived: 1 }]);
    expect(microsoft.received[0]).toMatchObject({
      verdict: "partial",
      reasons: ["data[0].orderId is not a known field"],
    });
  });

  test.each<[string, unknown, Fields]>([
    ["no sender's name", [event()], { dataProvider: undefined }],
    ["no events", [], {}],
    ["too many events", Array.from({ length: 1001 }, () => event()), {}],
    ["events that are no list", event(), {}],
  ])("%s rejects the request", async (_, data, root) => {
    expect((await send(data, root)).status).toBe(400);
  });

  test("the token must be the tag's own, not the sign-in's", async () => {
    const unauthorized = { error: { code: "Unauthorized" } };
    for (const token of [known.expiredTagToken, known.revokedTagToken, known.accessToken, "made-up"])
      expect(await send([event()], {}, token)).toMatchObject({ status: 401, body: unauthorized });
    expect((await send([event()], {}, known.tagToken, known.otherTagId)).status).toBe(401);
  });

  test("the same id under another name is another event", async () => {
    await send([event(), event({ eventName: "lead" })]);
    await send([event()]);
    expect(microsoft.accepted.map(({ name, count, counted }) => [name, count, counted])).toEqual([
      ["lead", 1, 1],
      ["purchase", 2, 1],
    ]);
  });
});
