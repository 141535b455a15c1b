import { describe, expect, test } from "vitest";
import { bearer, browser, type Fields, person, post, runStandin, startTime, throttledCall } from "../shared/testCalls.ts";
import { reddit } from "./index.ts";
import { sha256 } from "../shared/contactChecks.ts";

const { known } = reddit;
const ms = startTime - 1_800_000;
const { handle: platform } = await runStandin("reddit");

/** The hash of `Al.ice$+Apple@Example.Com`, as documented. */
const emailSha256 = "ff8d9819fc0e12bf0d24892e45987e249a28dce836a85cad60e28eaaa8c6d976";
const user = (changes: Fields = {}): Fields => ({
  email: emailSha256,
  phone_number: person.plusPhone,
  ip_address: "203.0.113.9",
  user_agent: browser,
  uuid: "7c73c64f-7b5b-4c3b-9a5e-1a2b3c4d5e6f",
  ...changes,
});
const metadata = (changes: Fields = {}): Fields => ({
  conversion_id: "ord-1001",
  value: 49.9,
  currency: "EUR",
  item_count: 1,
  ...changes,
});
const event = (changes: Fields = {}): Fields => ({
  event_at: ms,
  action_source: "WEBSITE",
  event_source_url: "https://shop.example/thanks",
  type: { tracking_type: "PURCHASE" },
  click_id: "1234567890abcdef",
  user: user(),
  metadata: metadata(),
  ...changes,
});
type Sending = { data?: Fields; token?: string; pixel?: string };
const send = (events: unknown, { data = {}, token = known.conversionToken, pixel = known.pixelId }: Sending = {}) =>
  post(`${platform.origin}/api/v3/pixels/${pixel}/conversion_events`, { data: { events, ...data } }, bearer(token));

describe("the Conversions API", () => {
  test("the documented event is accepted", async () => {
    const { status, body } = await send([event()]);
    expect([status, body]).toEqual([200, { data: { message: "Successfully processed 1 conversion events." } }]);
    expect(platform.accepted).toMatchObject([{ id: "ord-1001", name: "PURCHASE", counted: 1 }]);
  });

  test.each<[string, Fields, string]>([
    ["a time as ISO 8601, as v2 had it", { event_at: "2026-11-14T09:30:00Z" }, "event_at"],
    ["a time in seconds", { event_at: ms / 1000 }, "event_at"],
    ["an event of eight days ago", { event_at: ms - 8 * 86_400_000 }, "event_at"],
    ["an event six minutes ahead", { event_at: startTime + 360_000 }, "event_at"],
    ["no source", { action_source: undefined }, "action_source"],
    ["an unknown source", { action_source: "website" }, "action_source"],
    ["an address that is not a website's", { action_source: "OTHER" }, "event_source_url"],
    ["an unknown type", { type: { tracking_type: "CHECKOUT" } }, "type.tracking_type"],
    ["a custom event without its name", { type: { tracking_type: "CUSTOM" } }, "type.custom_event_name"],
    [
      "a custom name with a standard type",
      { type: { tracking_type: "LEAD", custom_event_name: "x" }, metadata: {} },
      "type.custom_event_name",
    ],
    ["a plain email", { user: user({ email: "alice@example.com" }) }, "user.email"],
    ["an email hashed with its alias", { user: user({ email: sha256("al.ice$+apple@example.com") }) }, "user.email"],
    ["an email hashed with its punctuation", { user: user({ email: person.email }) }, "user.email"],
    ["a phone hashed without its +", { user: user({ phone_number: person.digitsPhone }) }, "user.phone_number"],
    ["a hash in upper case", { user: user({ email: emailSha256.toUpperCase() }) }, "user.email"],
    ["the whole cookie as uuid", { user: user({ uuid: "1794600000000.7c73c64f-7b5b-4c3b-9a5e-1a2b3c4d5e6f" }) }, "user.uuid"],
    ["a hashed click id", { click_id: sha256("x") }, "click_id"],
    ["a value as text", { metadata: metadata({ value: "49.90" }) }, "metadata.value"],
    ["the value of v2", { metadata: metadata({ value_decimal: 49.9 }) }, "metadata.value_decimal"],
    [
      "a value of a page visit",
      { type: { tracking_type: "PAGE_VISIT" }, metadata: { value: 1, currency: "EUR" } },
      "metadata.value",
    ],
    ["a count of items of a lead", { type: { tracking_type: "LEAD" } }, "metadata.item_count"],
    ["no match key", { click_id: undefined, user: { user_agent: browser } }, "user"],
    [
      "limited data use in lower case",
      { user: user({ data_processing_options: { modes: ["ldu"] } }) },
      "user.data_processing_options.modes[0]",
    ],
  ])("%s rejects the batch and names the field", async (_, changes, field) => {
    const answer = await send([event({ metadata: metadata({ conversion_id: "good" }) }), event(changes)]);
    expect([answer.status, answer.body]).toMatchObject([
      400,
      { error: { code: 400, message: expect.any(String), fields: [{ field: `data.events[1].${field}` }] } },
    ]);
    expect(platform.accepted).toEqual([]);
  });

  test("a hashed IP address, a custom event, limited data use and four minutes ahead are accepted", async () => {
    const custom = event({
      type: { tracking_type: "CUSTOM", custom_event_name: "checkout" },
      event_at: startTime + 240_000,
    });
    const limited = user({
      ip_address: sha256("203.0.113.9"),
      data_processing_options: { modes: ["LDU"], country: "US", region: "US-CA" },
    });
    expect((await send([custom, event({ user: limited })])).status).toBe(200);
  });

  test("events with the same conversion id and type count once", async () => {
    for (let sent = 0; sent < 2; sent++)
      await send([event(), event({ type: { tracking_type: "CUSTOM", custom_event_name: "checkout" } })]);
    expect(platform.accepted.map(({ name, count, counted }) => [name, count, counted])).toEqual([
      ["PURCHASE", 2, 1],
      ["checkout", 2, 1],
    ]);
  });

  test.each([
    ["calls", 5000, 1],
    ["events", 250_000, 2],
  ])("the quota of %s per pixel and minute applies", (what, max, amount) => {
    const answer = throttledCall(
      reddit,
      `/api/v3/pixels/${known.pixelId}/conversion_events`,
      bearer(known.conversionToken),
      { data: { events: [event(), event()] } },
      (quota, limit, seconds, spent) =>
        quota === `${what} of ${known.pixelId}` && limit === max && seconds === 60 && spent === amount,
    );
    expect([answer.status, answer.body]).toEqual([429, "Too Many Requests"]);
  });
});

describe("tokens and faults in Reddit's three formats", () => {
  test("denied access has a reason", async () => {
    const answers = [];
    for (const token of ["wrong", known.expiredToken, known.revokedToken, known.readOnlyToken])
      answers.push(await send([event()], { token }));
    answers.push(await send([event()], { pixel: known.foreignPixelId }), await send([event()], { pixel: "a2_none" }));
    expect(answers.map(({ status, body }) => [status, body])).toMatchObject([
      [401, { success: false, error: { reason: "UNAUTHORIZED" } }],
      [401, { success: false, error: { explanation: "The access token has been expired." } }],
      [401, { success: false, error: { explanation: "The access token has been revoked." } }],
      [403, { success: false, error: { reason: "FORBIDDEN" } }],
      [403, { success: false, error: { reason: "FORBIDDEN" } }],
      [404, { success: false, error: { reason: "NOT_FOUND" } }],
    ]);
  });
});
