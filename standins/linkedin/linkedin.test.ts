import { describe, expect, test } from "vitest";
import { linkedin } from "./index.ts";
import { type Fields, person, post, runStandin, startTime, throttledCall } from "../shared/testCalls.ts";
import { sha256 } from "../shared/contactChecks.ts";

const { known } = linkedin;
const ms = startTime - 1_800_000;
const { handle: platform, advance } = await runStandin("linkedin");

const email = { idType: "SHA256_EMAIL", idValue: person.email };
const urn = (rule: string) => `urn:lla:llaPartnerConversion:${rule}`;
const event = (changes: Fields = {}): Fields => ({
  conversion: urn(known.purchaseRuleId),
  conversionHappenedAt: ms,
  eventId: "ord-1001",
  conversionValue: { currencyCode: "EUR", amount: "49.90" },
  user: {
    userIds: [email, { idType: "LINKEDIN_FIRST_PARTY_ADS_TRACKING_UUID", idValue: "df5gf5-gh6t7-ph4j7h-fgf6n1" }],
    userInfo: { firstName: "Jane", lastName: "Doe", companyName: "Acme", countryCode: "DE" },
  },
  ...changes,
});
const user = (changes: Fields = {}): Fields => ({ user: { userIds: [email], ...changes } });
const ids = (idType: string, idValue: string) => user({ userIds: [{ idType, idValue }] });

const headers = (changes: Record<string, string | undefined> = {}): Record<string, string> =>
  Object.fromEntries(
    Object.entries({
      authorization: `Bearer ${known.accessToken}`,
      "linkedin-version": known.apiVersion,
      "x-restli-protocol-version": "2.0.0",
      ...changes,
    }).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
const url = `${platform.origin}/rest/conversionEvents`;
const send = (body: unknown, changes: Record<string, string | undefined> = {}) => post(url, body, headers(changes));
const sendBatch = (elements: unknown[], changes: Record<string, string | undefined> = {}) =>
  send({ elements }, { "x-restli-method": "BATCH_CREATE", ...changes });
const messageOf = ({ body }: { body: unknown }) => (body as { message: string }).message;

describe("conversion events", () => {
  test("one event is accepted with 201 and no body", async () => {
    const { status, text } = await send(event());
    expect([status, text]).toEqual([201, ""]);
    expect(platform.accepted).toMatchObject([{ id: "ord-1001", counted: 1 }]);
  });

  test("a batch is answered element by element", async () => {
    const { status, body } = await sendBatch([event(), event({ eventId: "ord-1002" })]);
    expect([status, body]).toEqual([200, { elements: [{ status: 201 }, { status: 201 }] }]);
  });

  test.each<[string, Fields, string]>([
    [
      "no value in the money",
      { conversionValue: { currencyCode: "EUR" } },
      "/conversionValue/amount :: field is required but not found and has no default value",
    ],
    [
      "money as a number",
      { conversionValue: { currencyCode: "EUR", amount: 49.9 } },
      "/conversionValue/amount :: must be a string",
    ],
    ["money without a currency", { conversionValue: { amount: "1.00" } }, "/conversionValue/currencyCode :: field is required"],
    ["no list of ids", { user: { userInfo: { firstName: "A", lastName: "B" } } }, "/user/userIds :: field is required"],
    ["a first name alone", user({ userInfo: { firstName: "Jane" } }), "/user/userInfo/lastName :: field is required"],
    [
      "a time in seconds",
      { conversionHappenedAt: ms / 1000 },
      "/conversionHappenedAt :: must be in milliseconds, and looks like seconds",
    ],
    ["a time as text", { conversionHappenedAt: String(ms) }, "/conversionHappenedAt :: must be a number"],
    ["an event older than ninety days", { conversionHappenedAt: ms - 91 * 86_400_000 }, "/conversionHappenedAt :: is older"],
    ["an event of tomorrow", { conversionHappenedAt: ms + 86_400_000 }, "/conversionHappenedAt :: is in the future"],
    ["a rule without its urn", { conversion: known.purchaseRuleId }, "/conversion :: "],
    ["a plain email", ids("SHA256_EMAIL", "john_smith@gmail.com"), "/user/userIds/0/idValue :: is not hashed"],
    [
      "an email hashed in capitals",
      ids("SHA256_EMAIL", sha256("JOHN_SMITH@GMAIL.COM")),
      "/user/userIds/0/idValue :: is the hash",
    ],
    [
      "a hashed li_fat_id",
      ids("LINKEDIN_FIRST_PARTY_ADS_TRACKING_UUID", sha256("x")),
      "/user/userIds/0/idValue :: must not be hashed",
    ],
    ["an IPv6 address", ids("PLAINTEXT_IP_ADDRESS", "2001:db8::1"), "/user/userIds/0/idValue :: is not an IPv4"],
    ["a phone", ids("SHA256_PHONE", person.plusPhone), "/user/userIds/0/idType :: must be one of"],
    ["no match key", user({ userIds: [] }), "/user :: needs a user id"],
    ["two external ids", user({ externalIds: ["1", "2"] }), "/user/externalIds :: must not have more than 1"],
    ["an unknown field", { pageUrl: "https://shop.example" }, "/pageUrl :: unrecognized field found but not allowed"],
  ])("%s is rejected by its index, and the valid events with it", async (_, changes, text) => {
    const answer = await sendBatch([event({ eventId: "good" }), event(changes)]);
    expect([answer.status, (answer.body as Fields).status]).toEqual([422, 422]);
    expect(messageOf(answer)).toMatch(/^Index: 1, ERROR :: \//);
    expect(messageOf(answer)).toContain(`ERROR :: ${text}`);
    expect(platform.accepted).toEqual([]);
  });

  test("every fault has a line, and the first line of an element has its index", async () => {
    const bad = event({ conversionValue: { currencyCode: "EUR" }, user: { userInfo: {} } });
    const { body } = await sendBatch([bad, event(), event({ conversion: undefined })]);
    const missing = "field is required but not found and has no default value";
    expect((body as Fields).message).toBe(
      `Index: 0, ERROR :: /conversionValue/amount :: ${missing}\nERROR :: /user/userIds :: ${missing}\n` +
        `ERROR :: /user/userInfo/firstName :: ${missing}\nERROR :: /user/userInfo/lastName :: ${missing}\n` +
        `Index: 2, ERROR :: /conversion :: ${missing}\n`,
    );
    expect(messageOf(await send(event({ user: {} })))).toBe(`ERROR :: /user/userIds :: ${missing}\n`);
  });

  test("a batch needs its header, and at most 5000 elements", async () => {
    expect((await send({ elements: [event()] })).status).toBe(422);
    expect((await sendBatch(Array.from({ length: 5001 }, () => event()))).status).toBe(400);
    expect((await sendBatch(Array.from({ length: 5000 }, (_, index) => event({ eventId: `e${index}` })))).status).toBe(200);
  });

  test("a hashed IP address from 202607 on, a name alone, and a lead alone from 202605 on are accepted", async () => {
    const address = event(ids("SHA256_IP_ADDRESS", sha256("203.0.113.9")));
    expect((await send(address)).status).toBe(201);
    expect((await send(address, { "linkedin-version": "202606" })).status).toBe(422);
    const name = { userIds: [], userInfo: { firstName: "Jane", lastName: "Doe" } };
    expect((await send(event({ user: name }))).status).toBe(201);
    const lead = event({ user: { userIds: [], lead: "urn:li:leadGenFormResponse:abc" } });
    expect((await send(lead)).status).toBe(201);
    expect((await send(lead, { "linkedin-version": "202604" })).status).toBe(422);
  });

  test("a rule of the Insight Tag, a disabled rule and another account's rule are rejected", async () => {
    const statuses = [];
    for (const rule of [known.insightTagRuleId, known.disabledRuleId, "999"])
      statuses.push((await send(event({ conversion: urn(rule) }))).status);
    expect(statuses).toEqual([400, 400, 403]);
  });

  test("a repeated event id counts once for its rule", async () => {
    await send(event());
    await send(event());
    await send(event({ conversion: urn(known.leadRuleId) }));
    expect(platform.accepted.map(({ count, counted }) => [count, counted])).toEqual([
      [2, 1],
      [1, 1],
    ]);
  });

  test("a missing, retired or future version is rejected", async () => {
    expect(await send(event(), { "linkedin-version": undefined })).toMatchObject({
      status: 400,
      body: { code: "VERSION_MISSING" },
    });
    for (const version of ["202510", "202701", "2026-09"])
      expect((await send(event(), { "linkedin-version": version })).status).toBe(426);
    expect((await send(event(), { "linkedin-version": "202511" })).status).toBe(201);
    advance(2 * 86_400_000);
    const later = await send(event(), { "linkedin-version": "202511" });
    advance(-2 * 86_400_000);
    expect(later).toMatchObject({ status: 426, body: { status: 426, code: "NONEXISTENT_VERSION" } });
    expect((await send(event(), { "x-restli-protocol-version": undefined })).status).toBe(400);
  });

  test.each([
    [300, 60],
    [300_000, 86_400],
  ])("after %i calls in %i seconds calls are throttled without Retry-After", (max, within) => {
    const answer = throttledCall(
      linkedin,
      "/rest/conversionEvents",
      headers(),
      event(),
      (_, limit, per) => limit === max && per === within,
    );
    expect(answer).toMatchObject({ status: 429, body: { status: 429, serviceErrorCode: 101 } });
    expect(answer.headers).not.toHaveProperty("retry-after");
  });
});

describe("tokens and faults in LinkedIn's format", () => {
  test("a wrong, expired or revoked token, and one without permission, are rejected", async () => {
    const answers = [];
    for (const token of ["wrong", known.expiredToken, known.revokedToken, known.adsOnlyToken])
      answers.push(await send(event(), { authorization: `Bearer ${token}` }));
    expect(answers.map(({ status, body }) => [status, (body as Fields).serviceErrorCode])).toEqual([
      [401, 65_600],
      [401, 65_600],
      [401, 65_601],
      [403, 100],
    ]);
  });
});
