import { createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import { meta } from "./index.ts";
import { bearer, browser, type Fields, person, post, runStandin, startTime } from "../shared/testCalls.ts";
import { sha256 } from "../shared/contactChecks.ts";

const { known } = meta;
const seconds = startTime / 1000 - 1800;
const { handle: facebook, advance } = await runStandin("meta");

const userData = (changes: Fields = {}): Fields => ({
  em: [person.email],
  ph: [person.digitsPhone],
  fn: sha256("mary"),
  country: [sha256("de")],
  client_user_agent: browser,
  client_ip_address: "203.0.113.9",
  fbc: `fb.1.${startTime - 86_400_000}.IwAR0AbC_d-9`,
  fbp: `fb.1.${startTime - 86_400_000}.1098115397`,
  ...changes,
});
const event = (changes: Fields = {}): Fields => ({
  event_name: "Purchase",
  event_time: seconds,
  event_id: "ord-1001",
  action_source: "website",
  event_source_url: "https://shop.example/thanks",
  user_data: userData(),
  custom_data: { value: 49.9, currency: "EUR", order_id: "1001", utm_source: "mail" },
  ...changes,
});
const send = (data: unknown, { root = {}, token = known.accessToken, pixel = known.pixelId, version = "v26.0" }: Sending = {}) =>
  post(`${facebook.origin}/${version}/${pixel}/events`, { data, ...root }, bearer(token));
type Sending = { root?: Fields; token?: string; pixel?: string; version?: string };
const errorOf = ({ body }: { body: unknown }) => (body as { error: Fields }).error;

describe("the Conversions API", () => {
  test("the documented event is accepted with its custom fields", async () => {
    const { status, body } = await send([event()]);
    expect([status, body]).toEqual([200, { events_received: 1, messages: [], fbtrace_id: expect.any(String) }]);
    expect(facebook.accepted).toMatchObject([{ id: "ord-1001", name: "Purchase", counted: 1 }]);
  });

  test("the token may be in the query or the body too, and no log shows it", async () => {
    const url = `${facebook.origin}/v26.0/${known.pixelId}/events`;
    expect((await post(`${url}?access_token=${known.accessToken}`, { data: [event()] })).status).toBe(200);
    const inBody = { data: [event()], access_token: known.accessToken };
    expect((await post(url, inBody)).status).toBe(200);
    expect(JSON.stringify(facebook.received)).not.toContain(known.accessToken);
  });

  test("an app secret proof is checked when there is one", async () => {
    const url = (proof: string) => `${facebook.origin}/v26.0/${known.pixelId}/events?appsecret_proof=${proof}`;
    const headers = bearer(known.accessToken);
    const proof = createHmac("sha256", known.appSecret).update(known.accessToken).digest("hex");
    expect((await post(url(proof), { data: [event()] }, headers)).status).toBe(200);
    expect(errorOf(await post(url(sha256("guess")), { data: [event()] }, headers))).toMatchObject({
      code: 100,
      type: "GraphMethodException",
    });
  });

  test.each<[string, Fields, number | undefined]>([
    ["an event older than seven days", { event_time: seconds - 7 * 86_400 }, 2_804_003],
    ["a plain email", { user_data: userData({ em: ["john_smith@gmail.com"] }) }, 2_804_016],
    ["a hash in upper case", { user_data: userData({ em: [person.email.toUpperCase()] }) }, 2_804_016],
    ["a phone hashed with its +", { user_data: userData({ ph: [person.plusPhone] }) }, 2_804_016],
    ["an email hashed in upper case", { user_data: userData({ em: sha256("JOHN_SMITH@GMAIL.COM") }) }, 2_804_016],
    ["a name hashed without its accent", { user_data: userData({ fn: sha256("valery") }) }, 2_804_016],
    ["a country hashed in upper case", { user_data: userData({ country: sha256("DE") }) }, 2_804_016],
    ["the hash of an empty value", { user_data: userData({ ct: sha256("") }) }, 2_804_016],
    ["a time in milliseconds", { event_time: startTime }, undefined],
    ["a time as text", { event_time: String(seconds) }, undefined],
    ["an event of tomorrow", { event_time: seconds + 86_400 }, undefined],
    ["no source", { action_source: undefined }, undefined],
    ["an unknown source", { action_source: "web" }, undefined],
    ["a website event without its address", { event_source_url: undefined }, undefined],
    ["a website event without a browser", { user_data: userData({ client_user_agent: undefined }) }, undefined],
    ["a purchase without a value", { custom_data: { currency: "EUR" } }, undefined],
    ["a purchase without a currency", { custom_data: { value: 1 } }, undefined],
    ["a value as text", { custom_data: { value: "49.90", currency: "EUR" } }, undefined],
    ["an unknown currency", { custom_data: { value: 1, currency: "EURO" } }, undefined],
    ["a bare click id as fbc", { user_data: userData({ fbc: "IwAR0abc" }) }, undefined],
    ["an fbc in seconds", { user_data: userData({ fbc: `fb.1.${seconds}.IwAR0abc` }) }, undefined],
    ["an fbc of tomorrow", { user_data: userData({ fbc: `fb.1.${startTime + 86_400_000}.IwAR0` }) }, undefined],
    ["a hashed address", { user_data: userData({ client_ip_address: sha256("203.0.113.9") }) }, undefined],
    ["an email as external id", { user_data: userData({ external_id: "a@b.example" }) }, 2_804_016],
    ["an unknown field of the person", { user_data: userData({ email: person.email }) }, undefined],
    ["an unknown field with an odd name", { 'naïve\n"': 1 }, undefined],
    ["no person", { user_data: {}, action_source: "other" }, 2_804_050],
    ["only a browser", { user_data: { client_user_agent: browser }, event_source_url: "https://shop.example" }, 2_804_050],
    ["Lead in business messaging", { event_name: "Lead", action_source: "business_messaging" }, 2_804_066],
    ["limited data use without a place", { data_processing_options: ["LDU"] }, undefined],
    ["an unknown data option", { data_processing_options: ["LMU"] }, undefined],
    ["a place without the option", { data_processing_options_country: 1 }, undefined],
  ])("%s rejects the whole request", async (_, changes, subcode) => {
    const answer = await send([event({ event_id: "good" }), event(changes)]);
    expect(answer.status).toBe(400);
    expect(errorOf(answer)).toMatchObject({
      message: expect.any(String),
      type: "OAuthException",
      code: 100,
      fbtrace_id: expect.any(String),
    });
    expect(errorOf(answer).error_subcode).toBe(subcode);
    if (subcode !== undefined) expect(errorOf(answer).is_transient).toBe(false);
    expect(facebook.accepted).toEqual([]);
    expect(facebook.received[0]?.reasons[0]).toContain("data[1]");
  });

  test("page and user agent may be left out unless the source is a website", async () => {
    const offline = event({ action_source: "system_generated", event_source_url: undefined });
    expect((await send([{ ...offline, user_data: { em: person.email } }])).status).toBe(200);
    const shop = event({ action_source: "physical_store", event_time: seconds - 61 * 86_400 });
    expect((await send([shop])).status).toBe(200);
  });

  test.each<[string, Fields, Fields]>([
    ["a source that is no text", {}, { event_source: 1 }],
    ["no name of the CRM", {}, { lead_event_source: undefined }],
    ["an empty name of the CRM", {}, { lead_event_source: "" }],
    ["a number as the name of the CRM", {}, { lead_event_source: 5 }],
    ["a website", { action_source: "website" }, {}],
  ])("a stage of a lead from a CRM with %s is rejected", async (_, changes, custom) => {
    const stage = (more: Fields, data: Fields) => {
      const custom_data = { event_source: "crm", lead_event_source: "HubSpot", ...data };
      return event({ event_name: "MQL", action_source: "system_generated", custom_data, ...more });
    };
    expect((await send([stage({}, {})])).status).toBe(200);
    expect((await send([stage(changes, custom)])).status).toBe(400);
  });

  test("limited data use is accepted with country and state, and explicitly off", async () => {
    const place = (country: number, state: number) => ({
      data_processing_options: ["LDU"],
      data_processing_options_country: country,
      data_processing_options_state: state,
    });
    expect((await send([event(place(1, 1000)), event(place(0, 0))])).status).toBe(200);
    expect((await send([event({ data_processing_options: [], opt_out: true })])).status).toBe(200);
  });

  test("a value without a currency is accepted with a warning", async () => {
    const { body } = await send([event({ event_name: "Lead", custom_data: { value: 5 } })]);
    expect(body).toMatchObject({ messages: ["value and currency should be sent together"] });
  });

  test("the same id and name within 48 hours count once; another name is another event", async () => {
    await send([event()]);
    await send([event(), event({ event_name: "Lead" })]);
    expect(facebook.accepted.map(({ name, count, counted }) => [name, count, counted])).toEqual([
      ["Purchase", 2, 1],
      ["Lead", 1, 1],
    ]);
    advance(49 * 3_600_000);
    await send([event()]);
    advance(-49 * 3_600_000);
    expect(facebook.accepted.find(({ name }) => name === "Purchase")?.counted).toBe(2);
  });

  test("a test code must be valid, and the log marks the test", async () => {
    await send([event()], { root: { test_event_code: known.testEventCode } });
    expect(facebook.received[0]?.verdict).toBe("tested");
    expect((await send([event()], { root: { test_event_code: "test" } })).status).toBe(400);
  });

  test("retired and future versions are rejected", async () => {
    expect(errorOf(await send([event()], { version: "v19.0" })).code).toBe(2635);
    expect(errorOf(await send([event()], { version: "v99.0" })).code).toBe(2500);
    expect((await send([event()], { version: "v24.0" })).status).toBe(200);
  });

  test("an unknown dataset, another business's dataset and a token without permission are rejected", async () => {
    expect(errorOf(await send([event()], { pixel: "1" }))).toMatchObject({ code: 100, error_subcode: 33 });
    const foreign = await send([event()], { pixel: known.foreignPixelId });
    const readOnly = await send([event()], { token: known.readOnlyToken });
    expect([foreign, readOnly].map((one) => [one.status, errorOf(one).code])).toEqual([
      [403, 200],
      [403, 200],
    ]);
  });
});

describe("tokens and faults in Meta's format", () => {
  test("a wrong, expired or revoked token is rejected", async () => {
    const answers = [];
    for (const token of ["EAAwrong", known.expiredToken, known.revokedToken]) answers.push(await send([event()], { token }));
    expect(answers.map((one) => [one.status, errorOf(one).code, errorOf(one).error_subcode])).toEqual([
      [400, 190, undefined],
      [400, 190, 463],
      [400, 190, 460],
    ]);
    const none = await post(`${facebook.origin}/v26.0/${known.pixelId}/events`, { data: [event()] });
    expect(errorOf(none).code).toBe(104);
  });
});
