// Example responses of the Data API's runReport, which serve as tests and as documentation.

import type { ConfirmationExamples } from "../example.ts";
import { unauthorized } from "../shared/response.ts";

const request: ConfirmationExamples["request"] = {
  conversion: { name: "purchase", acceptedAt: Date.UTC(2026, 10, 14, 9, 30), answer: "" },
  subject: "2026-11-14T09",
  settings: {
    measurement_id: "G-EXAMPLE1",
    api_secret: "EXAMPLE-SECRET",
    property_id: "300000001",
    access_token: "EXAMPLE-TOKEN",
  },
  keys: ["A-1001", "A-1002"],
  request: {
    method: "POST",
    url: "https://analyticsdata.googleapis.com/v1beta/properties/300000001:runReport",
    headers: { "content-type": "application/json", authorization: "Bearer EXAMPLE-TOKEN" },
    body: JSON.stringify({
      dateRanges: [{ startDate: "2026-11-10", endDate: "2026-11-15" }],
      dimensions: [{ name: "transactionId" }],
      metrics: [{ name: "ecommercePurchases" }],
      dimensionFilter: {
        filter: {
          fieldName: "transactionId",
          inListFilter: { values: ["A-1001", "A-1002"], caseSensitive: true },
        },
      },
      limit: "2",
    }),
  },
};

const report = (...rows: (readonly [id: string, purchases: string])[]) =>
  JSON.stringify({
    dimensionHeaders: [{ name: "transactionId" }],
    metricHeaders: [{ name: "ecommercePurchases", type: "TYPE_INTEGER" }],
    ...(rows.length
      ? {
          rows: rows.map(([id, purchases]) => ({
            dimensionValues: [{ value: id }],
            metricValues: [{ value: purchases }],
          })),
        }
      : {}),
    rowCount: rows.length,
    metadata: { currencyCode: "EUR", timeZone: "Europe/Berlin" },
    kind: "analyticsData#runReport",
  });
const confirmed = { state: "confirmed", reason: null, detail: null } as const;

const responses: ConfirmationExamples["responses"] = [
  {
    title: "Google has both purchases",
    conversions: 2,
    status: 200,
    body: report(["A-1001", "1"], ["A-1002", "1"]),
    reading: { kind: "answered", confirmations: [confirmed, confirmed] },
  },
  {
    title: "Google has one of them, and asks to be asked again for the other",
    conversions: 2,
    status: 200,
    body: report(["A-1002", "1"], ["(other)", "7"]),
    reading: { kind: "answered", confirmations: [null, confirmed] },
  },
  {
    title: "the report is empty, which proves nothing",
    conversions: 2,
    status: 200,
    body: report(),
    reading: { kind: "answered", confirmations: [null, null] },
  },
  {
    title: "a row without a purchase",
    conversions: 1,
    status: 200,
    body: report(["A-1001", "0"]),
    reading: { kind: "answered", confirmations: [null] },
  },
  {
    title: "the account may not read the property",
    conversions: 1,
    status: 403,
    body: JSON.stringify({
      error: {
        code: 403,
        message: "User does not have sufficient permissions for this property.",
        status: "PERMISSION_DENIED",
      },
    }),
    reading: unauthorized("HTTP 403: User does not have sufficient permissions for this property."),
  },
];

export const confirmations: ConfirmationExamples = { request, responses };
