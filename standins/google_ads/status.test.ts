import { describe, expect, test } from "vitest";
import { googleAds } from "./index.ts";
import { get, post, runStandin } from "../shared/testCalls.ts";

const { known } = googleAds;
const { handle: google, advance } = await runStandin("google_ads");
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

type Fields = Record<string, unknown>;
const event = (changes: Fields = {}): Fields => ({
  eventTimestamp: "2026-11-14T09:30:00Z",
  transactionId: "ord-10042",
  eventSource: "WEB",
  adIdentifiers: { gclid: "EXAMPLE_GCLID" },
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

describe("requestStatus:retrieve", () => {
  const retrieve = (id: string) =>
    get(`${google.origin}/v1/requestStatus:retrieve?requestId=${id}`, bearer(known.accessToken));

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

  test("a dry run or an unknown id has no status", async () => {
    const { body } = await ingest(request([event()], { validateOnly: true }));
    const { status, text } = await retrieve((body as { requestId: string }).requestId);
    expect([status, text]).toEqual([400, expect.stringContaining("INVALID_REQUEST_ID")]);
  });
});
