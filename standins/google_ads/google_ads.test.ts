import { describe, expect, test } from "vitest";
import { googleAds } from "./index.ts";
import { processingErrors } from "./status.ts";
import { bearer, type Fields, get, post, runStandin } from "../shared/testCalls.ts";

const { known } = googleAds;
const { handle: google, advance } = await runStandin("google_ads");

const emailSha256 = "509e933019bb285a134a9334b8bb679dff79d0ce023d529af4bd744d47b4fd8a";
const phoneSha256 = "fb4f73a6ec5fdb7077d564cdd22c3554b43ce49168550c3b12c547b78c517b30";

const event = (changes: Fields = {}): Fields => ({
  eventTimestamp: "2026-11-14T09:30:00Z",
  transactionId: "ord-10042",
  eventSource: "WEB",
  currency: "EUR",
  conversionValue: 49.9,
  adIdentifiers: { gclid: "EXAMPLE_GCLID" },
  userData: { userIdentifiers: [{ emailAddress: emailSha256 }, { phoneNumber: phoneSha256 }] },
  consent: { adUserData: "CONSENT_GRANTED", adPersonalization: "CONSENT_DENIED" },
  ...changes,
});
const destination = (changes: Fields = {}): Fields => ({
  operatingAccount: { accountType: "GOOGLE_ADS", accountId: known.customerId },
  loginAccount: { accountType: "GOOGLE_ADS", accountId: known.managerId },
  productDestinationId: known.conversionActionId,
  ...changes,
});
const request = (events: unknown[], changes: Fields = {}): Fields => ({
  destinations: [destination()],
  encoding: "HEX",
  events,
  ...changes,
});
const ingest = (body: unknown, token: string = known.accessToken) =>
  post(`${google.origin}/v1/events:ingest`, body, bearer(token));
const violationsOf = (body: unknown) =>
  (body as { error: { details: { fieldViolations?: unknown }[] } }).error.details.at(-1)?.fieldViolations;

describe("events:ingest", () => {
  test("the documented request is accepted and gets a request id", async () => {
    const { status, body } = await ingest(request([event()], { validateOnly: false }));
    expect([status, body]).toEqual([200, { requestId: "t-google_ads-000001" }]);
    expect(google.accepted).toMatchObject([{ id: "ord-10042", count: 1 }]);
  });

  test("an email alone is enough where enhanced conversions for leads are on", async () => {
    expect((await ingest(request([event({ adIdentifiers: undefined })]))).status).toBe(200);
  });

  test("one invalid event rejects the whole request, in Google's format", async () => {
    const bad = event({ userData: { userIdentifiers: [{ emailAddress: "ada@example.com" }] } });
    const { status, body } = await ingest(request([event(), bad]));
    expect(status).toBe(400);
    const requestId = "t-google_ads-000001";
    expect(body).toEqual({
      error: {
        code: 400,
        message: "There was a problem with the request.",
        status: "INVALID_ARGUMENT",
        details: [
          {
            "@type": "type.googleapis.com/google.rpc.ErrorInfo",
            reason: "INVALID_ARGUMENT",
            domain: "datamanager.googleapis.com",
            metadata: { requestId },
          },
          { "@type": "type.googleapis.com/google.rpc.RequestInfo", requestId },
          {
            "@type": "type.googleapis.com/google.rpc.BadRequest",
            fieldViolations: [
              {
                field: "events.events[1].user_data.user_identifiers[0].email_address",
                description: "is not hashed: SHA-256 in 64 hexadecimal digits is expected",
                reason: "INVALID_HEX_ENCODING",
              },
            ],
          },
        ],
      },
    });
    expect(google.accepted).toEqual([]);
  });

  test.each<[string, Fields, string, string]>([
    ["no identifier at all", { adIdentifiers: undefined, userData: undefined }, "", "NO_IDENTIFIERS_PROVIDED"],
    [
      "gbraid together with wbraid",
      { adIdentifiers: { gbraid: "EXAMPLE_G", wbraid: "EXAMPLE_W" } },
      ".ad_identifiers",
      "INVALID_EVENT",
    ],
    ["no time", { eventTimestamp: undefined }, ".event_timestamp", "REQUIRED_FIELD_MISSING"],
    ["a time in seconds", { eventTimestamp: 1_794_648_600 }, ".event_timestamp", "INVALID_FORMAT"],
    ["the Ads API's time", { eventTimestamp: "2026-11-14 09:30:00+00:00" }, ".event_timestamp", "INVALID_FORMAT"],
    ["a time in the future", { eventTimestamp: "2026-11-14T10:00:01Z" }, ".event_timestamp", "EVENT_TIME_INVALID"],
    ["a time of last spring", { eventTimestamp: "2026-05-01T00:00:00Z" }, ".event_timestamp", "EVENT_TIME_INVALID"],
    ["no transaction id", { transactionId: undefined }, ".transaction_id", "REQUIRED_FIELD_MISSING"],
    ["a transaction id of digits", { transactionId: "10042" }, ".transaction_id", "INVALID_FORMAT"],
    ["no source", { eventSource: undefined }, ".event_source", "REQUIRED_FIELD_MISSING"],
    ["an unknown source", { eventSource: "TV" }, ".event_source", "INVALID_FORMAT"],
    ["a value as text", { conversionValue: "49.90" }, ".conversion_value", "INVALID_FORMAT"],
    ["a currency in lower case", { currency: "eur" }, ".currency", "INVALID_CURRENCY_CODE"],
    ["consent in the old words", { consent: { adUserData: "GRANTED" } }, ".consent.ad_user_data", "INVALID_FORMAT"],
    [
      "a hash in upper case",
      { userData: { userIdentifiers: [{ emailAddress: emailSha256.toUpperCase() }] } },
      ".user_data.user_identifiers[0].email_address",
      "INVALID_SHA256_FORMAT",
    ],
    [
      "eleven identifiers",
      { userData: { userIdentifiers: Array.from({ length: 11 }, () => ({ emailAddress: emailSha256 })) } },
      ".user_data.user_identifiers",
      "TOO_MANY_USER_IDENTIFIERS",
    ],
    [
      "two identifiers in one",
      { userData: { userIdentifiers: [{ emailAddress: emailSha256, phoneNumber: phoneSha256 }] } },
      ".user_data.user_identifiers[0]",
      "INVALID_FORMAT",
    ],
    [
      "an address without its country",
      {
        userData: {
          userIdentifiers: [{ address: { givenName: emailSha256, familyName: emailSha256, postalCode: "1" } }],
        },
      },
      ".user_data.user_identifiers[0].address.region_code",
      "REQUIRED_FIELD_MISSING",
    ],
  ])("%s is rejected", async (_, changes, field, reason) => {
    const { status, body } = await ingest(request([event(changes)]));
    expect(status).toBe(400);
    expect(violationsOf(body)).toEqual([{ field: `events.events[0]${field}`, description: expect.any(String), reason }]);
    expect(google.accepted).toEqual([]);
  });

  test("additional data for a conversion of the tag is accepted", async () => {
    const ofTag = { destinations: [destination({ productDestinationId: known.webpageActionId })] };
    expect((await ingest(request([event()], ofTag))).status).toBe(200);
  });

  test("session attributes are JSON in base64url", async () => {
    const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const send = (sessionAttributes: string) => ingest(request([event({ adIdentifiers: { gclid: "g-1", sessionAttributes } })]));
    expect((await send(encoded({ gad_source: "1", session_start_time_usec: "1794297600000000" }))).status).toBe(200);
    for (const wrong of ["gad_source=1", encoded({ gad_source: 1 }), encoded({ session_start_time_usec: "1794297600" })])
      expect((await send(wrong)).status).toBe(400);
  });

  test("a dry run does not notice a transaction id of digits", async () => {
    expect((await ingest(request([event({ transactionId: "10042" })], { validateOnly: true }))).status).toBe(200);
  });

  test.each<[string, Fields]>([
    ["in the request", { login: "x" }],
    ["in an event", { events: [event({ addressInfo: {} })] }],
  ])("an unknown field %s is rejected by the JSON reader", async (_, changes) => {
    const { status, body } = await ingest(request([event()], changes));
    expect([status, body]).toMatchObject([400, { error: { status: "INVALID_ARGUMENT" } }]);
    expect(violationsOf(body)).toBeUndefined();
  });

  test.each<[string, Fields, string]>([
    ["no encoding", { encoding: undefined }, "REQUIRED_FIELD_MISSING"],
    ["too many events", { events: Array.from({ length: 2001 }, () => event()) }, "TOO_MANY_EVENTS"],
    ["no events", { events: [] }, "REQUIRED_FIELD_MISSING"],
    [
      "a resource name as the conversion action",
      {
        destinations: [destination({ productDestinationId: "customers/1234567890/conversionActions/7700000001" })],
      },
      "INVALID_CONVERSION_ACTION_ID",
    ],
    [
      "a conversion action of the tag",
      {
        destinations: [destination({ productDestinationId: known.webpageActionId })],
        events: [event({ userData: undefined })],
      },
      "INVALID_CONVERSION_ACTION_TYPE",
    ],
    [
      "a removed conversion action",
      { destinations: [destination({ productDestinationId: known.removedActionId })] },
      "INVALID_CONVERSION_ACTION_ID",
    ],
    ["a reference that no destination has", { events: [event({ destinationReferences: ["other"] })] }, "INVALID_DESTINATION"],
  ])("%s is rejected", async (_, changes, reason) => {
    const { status, body } = await ingest(request([event()], changes));
    expect(status).toBe(400);
    expect(violationsOf(body)).toMatchObject([{ reason }]);
  });

  test("user data for an account without enhanced conversions for leads is rejected; a click alone is accepted", async () => {
    const direct = destination({
      operatingAccount: { accountType: "GOOGLE_ADS", accountId: known.directCustomerId },
      loginAccount: undefined,
      productDestinationId: known.directConversionActionId,
    });
    const rejected = await ingest(request([event()], { destinations: [direct] }));
    expect(violationsOf(rejected.body)).toMatchObject([
      {
        field: "events.events[0].destination_references[0]",
        reason: "DESTINATION_ACCOUNT_NOT_ENABLED_ENHANCED_CONVERSIONS_FOR_LEADS",
      },
    ]);
    const accepted = await ingest({ destinations: [direct], events: [event({ userData: undefined })] });
    expect(accepted.status).toBe(200);
  });

  test.each<[string, Fields]>([
    ["without the manager that leads to the account", { loginAccount: undefined }],
    ["with the account as its own manager", { loginAccount: { accountType: "GOOGLE_ADS", accountId: known.customerId } }],
    ["to an unknown account", { operatingAccount: { accountType: "GOOGLE_ADS", accountId: "1111111111" } }],
  ])("%s there is no permission", async (_, changes) => {
    const { status, body } = await ingest(request([event()], { destinations: [destination(changes)] }));
    expect([status, body]).toMatchObject([403, { error: { status: "PERMISSION_DENIED" } }]);
  });

  test("an event without references counts for every destination", async () => {
    const destinations = [known.conversionActionId, known.secondActionId].map((productDestinationId) =>
      destination({ productDestinationId }),
    );
    for (let times = 0; times < 2; times++) expect((await ingest(request([event()], { destinations }))).status).toBe(200);
    expect(google.accepted).toMatchObject([
      { id: "ord-10042", count: 2, counted: 1 },
      { id: "ord-10042", count: 2, counted: 1 },
    ]);
  });

  test("a hash in base64 is accepted when the request says so", async () => {
    const base64 = Buffer.from(emailSha256, "hex").toString("base64");
    const userData = { userIdentifiers: [{ emailAddress: base64 }] };
    expect((await ingest(request([event({ userData })], { encoding: "BASE64" }))).status).toBe(200);
    expect((await ingest(request([event({ userData })]))).status).toBe(400);
  });

  test("tokens that are expired, revoked, unknown or without the scope give no access", async () => {
    const body = request([event()]);
    for (const token of [known.expiredToken, known.revokedToken, "made-up"]) expect((await ingest(body, token)).status).toBe(401);
    const scopeless = await ingest(body, known.adwordsOnlyToken);
    expect([scopeless.status, scopeless.text]).toEqual([403, expect.stringContaining("ACCESS_TOKEN_SCOPE_INSUFFICIENT")]);
    expect((await post(`${google.origin}/v1/events:ingest?key=AIza-key`, body)).status).toBe(401);
  });

  test("text that is no JSON is rejected", async () => {
    expect((await ingest("{")).status).toBe(400);
    const typed = await post(`${google.origin}/v1/events:ingest`, request([event()]), {
      ...bearer(known.accessToken),
      "content-type": "text/plain",
    });
    expect(typed.status).toBe(400);
  });
});

describe("requestStatus:retrieve", () => {
  const retrieve = (id: string) => get(`${google.origin}/v1/requestStatus:retrieve?requestId=${id}`, bearer(known.accessToken));

  test("counts per destination come half an hour later", async () => {
    const braid = event({ transactionId: "ord-2", adIdentifiers: { wbraid: "EXAMPLE" } });
    const { body } = await ingest(
      request([event(), braid], {
        destinations: [destination({ productDestinationId: known.onePerClickActionId })],
      }),
    );
    const { requestId } = body as { requestId: string };
    expect((await retrieve(requestId)).text).toContain('"requestStatus":"PROCESSING"');
    advance(31 * 60_000);
    expect((await retrieve(requestId)).body).toMatchObject({
      requestStatusPerDestination: [
        {
          requestStatus: "PARTIAL_SUCCESS",
          eventsIngestionStatus: { recordCount: "2" },
          errorInfo: {
            errorCounts: [
              {
                recordCount: "1",
                reason: "PROCESSING_ERROR_REASON_ONE_PER_CLICK_CONVERSION_ACTION_NOT_PERMITTED_WITH_BRAID",
              },
            ],
          },
        },
      ],
    });
  });

  const statusesOf = (body: unknown) => (body as { requestStatusPerDestination: Fields[] }).requestStatusPerDestination;

  /** Ingests events with these click ids as one request, and returns its status after half an hour. */
  async function statusAfter(...gclids: string[]): Promise<Fields | undefined> {
    const events = gclids.map((gclid, i) => event({ transactionId: `ord-${gclid}-${i}`, adIdentifiers: { gclid } }));
    const { requestId } = (await ingest(request(events))).body as { requestId: string };
    advance(31 * 60_000);
    return statusesOf((await retrieve(requestId)).body)[0];
  }

  test.each(processingErrors)("a click id asks for the error %s", async (error) => {
    const status = await statusAfter(`STANDIN-${error}`);
    expect(status).toMatchObject({
      requestStatus: "FAILED",
      errorInfo: {
        errorCounts: [{ recordCount: "1", reason: expect.stringMatching(new RegExp(`_${error}$`)) }],
      },
    });
  });

  test("errors are counted by reason, and never name an event", async () => {
    const status = await statusAfter("EXAMPLE-1", "STANDIN-NO_CONSENT", "STANDIN-NO_CONSENT", "STANDIN-EVENT_TOO_OLD");
    expect(status).toMatchObject({
      requestStatus: "PARTIAL_SUCCESS",
      eventsIngestionStatus: { recordCount: "4" },
      errorInfo: {
        errorCounts: [
          { recordCount: "2", reason: "PROCESSING_ERROR_REASON_NO_CONSENT" },
          { recordCount: "1", reason: "PROCESSING_ERROR_REASON_EVENT_TOO_OLD" },
        ],
      },
    });
  });

  test("a status may stay open, be unknown, or come without counts", async () => {
    expect(await statusAfter("STANDIN-PROCESSING")).toMatchObject({ requestStatus: "PROCESSING" });
    expect(await statusAfter("STANDIN-REQUEST_STATUS_UNKNOWN")).toMatchObject({
      requestStatus: "REQUEST_STATUS_UNKNOWN",
    });
    expect(await statusAfter("STANDIN-WITHOUT_COUNTS")).toMatchObject({
      requestStatus: "FAILED",
      errorInfo: { errorCounts: [] },
    });
  });

  test("a click that is too new counts six hours later, and a conversion that counted is a duplicate", async () => {
    const body = request([event({ transactionId: "late", adIdentifiers: { gclid: "STANDIN-TOO_RECENT_CLICK" } })]);
    const codes: unknown[] = [];
    for (let i = 0; i < 3; i++) {
      const { requestId } = (await ingest(body)).body as { requestId: string };
      advance(6 * 3_600_000);
      codes.push(statusesOf((await retrieve(requestId)).body)[0]?.errorInfo);
    }
    const count = (reason: string) => ({
      errorCounts: [{ recordCount: "1", reason: `PROCESSING_ERROR_REASON_${reason}` }],
    });
    expect(codes).toEqual([count("TOO_RECENT_CLICK"), undefined, count("DUPLICATE_TRANSACTION_ID")]);
  });

  test("a status call with a body, or with other parameters, is rejected", async () => {
    expect((await retrieve("t-1&alt=json")).status).toBe(400);
  });

  test("a dry run or an unknown id has no status", async () => {
    const { body } = await ingest(request([event()], { validateOnly: true }));
    const { status, text } = await retrieve((body as { requestId: string }).requestId);
    expect([status, text]).toEqual([400, expect.stringContaining("INVALID_REQUEST_ID")]);
  });
});
