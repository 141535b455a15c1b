// Example reports of quality, which serve as tests and as documentation.

import type { QualityExamples } from "../example.ts";
import { rejected, unauthorized } from "../shared/response.ts";
import { getRequest } from "../shared/settings.ts";
import { fields } from "./quality.ts";

export const quality: QualityExamples = {
  request: {
    settings: { pixel_id: "1234567890123456", access_token: "EXAMPLE-TOKEN" },
    request: getRequest(
      `https://graph.facebook.com/v25.0/dataset_quality?dataset_id=1234567890123456&fields=${encodeURIComponent(fields)}`,
      { authorization: "Bearer EXAMPLE-TOKEN" },
    ),
  },
  responses: [
    {
      title: "two events",
      status: 200,
      body: JSON.stringify({
        web: [
          {
            event_name: "Purchase",
            event_match_quality: {
              composite_score: 6.8,
              match_key_feedback: [
                { identifier: "email", coverage: { percentage: 99.4 } },
                { identifier: "phone", coverage: { percentage: 31 } },
              ],
              diagnostics: [{ name: "Server sending duplicate IPs", percentage: 12 }],
            },
            event_coverage: { percentage: 62, goal_percentage: 75 },
            data_freshness: { upload_frequency: "real_time" },
          },
          { event_name: "Lead" },
        ],
      }),
      reading: {
        kind: "answered",
        reports: [
          {
            event: "Purchase",
            score: 6.8,
            maxScore: 10,
            rating: null,
            keys: [
              { key: "email", coverage: 0.994 },
              { key: "phone", coverage: 0.31 },
            ],
            notes: ["Server sending duplicate IPs (12 %)", "event coverage 62 %, the goal is 75 %", "freshness: real_time"],
          },
          { event: "Lead", score: null, maxScore: null, rating: null, keys: [], notes: [] },
        ],
      },
    },
    {
      title: "the token may not read the dataset",
      status: 403,
      body: JSON.stringify({ error: { code: 10, message: "Permission denied" } }),
      reading: unauthorized("Meta error 10: Permission denied"),
    },
    {
      title: "the token is not valid",
      status: 400,
      body: JSON.stringify({ error: { code: 190, message: "Invalid OAuth access token" } }),
      reading: unauthorized("Meta error 190: Invalid OAuth access token"),
    },
    {
      title: "the dataset does not exist",
      status: 400,
      body: JSON.stringify({ error: { code: 2_044_055, message: "The dataset does not exist" } }),
      reading: rejected("HTTP 400: Meta error 2044055: The dataset does not exist"),
    },
  ],
  notes: [
    {
      title: "events are deduplicated by event_id",
      status: 200,
      body: JSON.stringify({
        web: [
          {
            event_name: "Purchase",
            dedupe_key_feedback: [
              {
                dedupe_key: "event_id",
                browser_events_with_dedupe_key: { percentage: 98 },
                server_events_with_dedupe_key: { percentage: 100 },
                overall_browser_coverage_from_dedupe_key: { percentage: 91.5 },
              },
              { dedupe_key: "fbp" },
            ],
          },
          { event_name: "Lead" },
        ],
      }),
      notes: [
        {
          event: "Purchase",
          notes: [
            "deduplication by event_id: 98 % of browser events have it, 100 % of server events, 91.5 % of browser events are covered",
          ],
        },
      ],
    },
    {
      title: "the dataset has no such field",
      status: 400,
      body: JSON.stringify({ error: { code: 100, message: "Tried accessing nonexisting field" } }),
      notes: [],
    },
  ],
};
