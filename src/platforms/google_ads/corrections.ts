// Corrections of the Data Manager API: an event with the transaction id of an earlier one, and another value, adjusts it. Whether
// an event can be taken back altogether is not documented clearly, so one of which nothing is left gets the value 0.

import type { Corrections } from "../platform.ts";
import { readIngested } from "../shared/dataManagerResponse.ts";
import { unreadable } from "../shared/response.ts";
import { sampleConversion } from "../shared/sample.ts";
import { clickDays, toRequest } from "./request.ts";

const readResponse = readIngested("conversion_action");

export const corrections: Corrections = {
  maxAgeDays: clickDays,
  effect: "Google keeps the conversion and changes its value, to 0 if the whole order was refunded.",
  toRequest: ({ conversion, value }, settings, now) => toRequest([{ ...withoutItems(conversion), value }], settings, now),
  read: (response, { conversion }, settings, now) =>
    readResponse(response, [conversion], settings, now)[0] ?? unreadable(response, now),
  examples: [
    {
      title: "Ten of an order of 49.90 were refunded",
      settings: {
        customer_id: "123-456-7890",
        access_token: "EXAMPLE-TOKEN",
        conversion_action: "7700000001",
      },
      correction: { conversion: sampleConversion(), value: 39.9, at: Date.UTC(2026, 10, 15) },
      request: {
        method: "POST",
        url: "https://datamanager.googleapis.com/v1/events:ingest",
        headers: { "content-type": "application/json", authorization: "Bearer EXAMPLE-TOKEN" },
        body: {
          destinations: [
            {
              operatingAccount: { accountType: "GOOGLE_ADS", accountId: "1234567890" },
              productDestinationId: "7700000001",
            },
          ],
          encoding: "HEX",
          events: [
            {
              eventTimestamp: "2026-11-14T09:30:00.000Z",
              transactionId: "A-1001",
              eventSource: "WEB",
              consent: { adUserData: "CONSENT_GRANTED", adPersonalization: "CONSENT_GRANTED" },
              adIdentifiers: { gclid: "EAIaIQobChMI-Example_1" },
              conversionValue: 39.9,
              currency: "EUR",
            },
          ],
          validateOnly: false,
        },
      },
    },
  ],
};

/** Which items were refunded is not known. */
function withoutItems<Given extends { items?: unknown }>({ items: _items, ...rest }: Given) {
  return rest;
}
