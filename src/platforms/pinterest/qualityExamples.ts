// Example reports of quality, which serve as tests and as documentation.

import type { QualityExamples } from "../example.ts";
import { unauthorized } from "../shared/response.ts";
import { getRequest } from "../shared/settings.ts";
import { query } from "./quality.ts";

export const quality: QualityExamples = {
  request: {
    settings: { ad_account_id: "549755885175", access_token: "EXAMPLE-TOKEN" },
    request: getRequest(`https://api.pinterest.com/v5/ad_accounts/549755885175/conversion_eqs?${query}`, {
      authorization: "Bearer EXAMPLE-TOKEN",
    }),
  },
  responses: [
    {
      title: "a rating, and the coverage by event",
      status: 200,
      body: JSON.stringify([
        {
          overall_status: "FAIR",
          ingestion_source: "CONVERSIONS_API",
          source_platform: "WEB",
          lookback_period: "14d",
          quality_components: {
            hashed_email: {
              checkout: { coverage: 98, issues: [] },
              lead: { coverage: 100, issues: [] },
            },
            click_id_epik: { checkout: { coverage: 12.5, issues: ["LOW_COVERAGE"] } },
          },
        },
      ]),
      reading: {
        kind: "answered",
        reports: [
          { event: "", score: null, maxScore: null, rating: "FAIR", keys: [], notes: [] },
          {
            event: "checkout",
            score: null,
            maxScore: null,
            rating: null,
            keys: [
              { key: "hashed_email", coverage: 0.98 },
              { key: "click_id_epik", coverage: 0.125 },
            ],
            notes: ["click_id_epik: LOW_COVERAGE"],
          },
          {
            event: "lead",
            score: null,
            maxScore: null,
            rating: null,
            keys: [{ key: "hashed_email", coverage: 1 }],
            notes: [],
          },
        ],
      },
    },
    {
      title: "a conversion token may not read it",
      status: 403,
      body: JSON.stringify({ code: 29, message: "You are not permitted to access that resource." }),
      reading: unauthorized("HTTP 403: You are not permitted to access that resource."),
    },
  ],
};
