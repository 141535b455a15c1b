import { describe, expect, test } from "vitest";
import { cm360 } from "./index.ts";
import { bearer, type Fields, post, runStandin } from "../shared/testCalls.ts";

const { known } = cm360;
const { handle: standin } = await runStandin("cm360");

const event = (changes: Fields = {}): Fields => ({
  eventTimestamp: "2026-11-14T09:30:00Z",
  transactionId: "ord-10042",
  eventSource: "WEB",
  currency: "EUR",
  conversionValue: 49.9,
  adIdentifiers: { dclid: "EXAMPLE_DCLID" },
  consent: { adUserData: "CONSENT_GRANTED", adPersonalization: "CONSENT_GRANTED" },
  ...changes,
});
const account = (accountId: string, accountType = "FLOODLIGHT_CONFIG") => ({ accountType, accountId });
const destination = (changes: Fields = {}): Fields => ({
  operatingAccount: account(known.configurationId),
  productDestinationId: known.activityId,
  ...changes,
});
const request = (events: unknown[], changes: Fields = {}): Fields => ({
  destinations: [destination()],
  events,
  ...changes,
});
const ingest = (body: unknown, token: string = known.accessToken) =>
  post(`${standin.origin}/v1/events:ingest`, body, bearer(token));
const reasonsOf = ({ body }: { body: unknown }) =>
  (body as { error: { details: { fieldViolations?: { reason: string }[] }[] } }).error.details
    .flatMap(({ fieldViolations = [] }) => fieldViolations)
    .map(({ reason }) => reason);

describe("events:ingest for Floodlight", () => {
  test("the documented request is accepted, with and without the login account", async () => {
    expect((await ingest(request([event()]))).status).toBe(200);
    const named = destination({ loginAccount: account(known.configurationId) });
    expect((await ingest(request([event()], { destinations: [named] }))).status).toBe(200);
    expect(standin.accepted).toMatchObject([{ id: "ord-10042", count: 2, counted: 1 }]);
  });

  test("an event counts for each activity of the request", async () => {
    const destinations = [destination(), destination({ productDestinationId: known.secondActivityId })];
    expect((await ingest(request([event()], { destinations }))).status).toBe(200);
    expect(standin.accepted).toHaveLength(2);
  });

  test.each<[string, Fields, string]>([
    ["no identifier", { adIdentifiers: undefined }, "NO_IDENTIFIERS_PROVIDED"],
    ["two identifiers", { adIdentifiers: { dclid: "d", gclid: "g" } }, "INVALID_EVENT"],
    ["an identifier of Google Ads only", { adIdentifiers: { wbraid: "w" } }, "INVALID_EVENT"],
    ["29 days ago", { eventTimestamp: "2026-10-16T09:30:00Z" }, "EVENT_TIME_INVALID"],
    ["in the future", { eventTimestamp: "2026-11-15T09:30:00Z" }, "EVENT_TIME_INVALID"],
    ["an order id of digits", { transactionId: "1001" }, "INVALID_FORMAT"],
    ["a plain email", { userData: { userIdentifiers: [{ emailAddress: "a@b.c" }] } }, "INVALID_HEX_ENCODING"],
  ])("an event with %s rejects the whole request", async (_fault, changes, reason) => {
    const answer = await ingest(request([event(), event(changes)], { encoding: "HEX" }));
    expect(answer.status).toBe(400);
    expect(reasonsOf(answer)).toEqual([reason]);
    expect(standin.accepted).toEqual([]);
  });

  test.each<[string, Fields, number, string]>([
    ["an unknown activity", { productDestinationId: "1" }, 400, "INVALID_ARGUMENT"],
    ["an archived activity", { productDestinationId: known.archivedActivityId }, 400, "INVALID_ARGUMENT"],
    ["the tag of an activity", { productDestinationId: "purch0" }, 400, "INVALID_NUMBER_FORMAT"],
    ["another login account", { loginAccount: account("1") }, 400, "OPERATING_ACCOUNT_LOGIN_ACCOUNT_MISMATCH"],
    [
      "an advertiser without the permission",
      { operatingAccount: account(known.deniedConfigurationId) },
      403,
      "PERMISSION_DENIED",
    ],
    ["an account of Google Ads", { operatingAccount: account("1234567890", "GOOGLE_ADS") }, 400, "INVALID_FORMAT"],
  ])("a destination with %s is refused", async (_fault, changes, status, reason) => {
    const answer = await ingest(request([event()], { destinations: [destination(changes)] }));
    expect([answer.status, ...reasonsOf(answer)]).toEqual([status, reason]);
  });

  test("a token needs the scope of the Data Manager API", async () => {
    expect((await ingest(request([event()]), known.otherScopeToken)).status).toBe(403);
    for (const token of [known.expiredToken, known.revokedToken])
      expect((await ingest(request([event()]), token)).status).toBe(401);
  });
});
