// Example reports of quality, which serve as tests and as documentation.

import type { QualityExamples } from "../example.ts";
import { unauthorized } from "../shared/response.ts";
import { getRequest } from "../shared/settings.ts";
import { ads } from "./quality.ts";

export const quality: QualityExamples = {
  request: {
    settings: { pixel_id: "d4000000-0000-4000-8000-000000000001", access_token: "EXAMPLE-TOKEN" },
    request: getRequest(`${ads}/pixels/d4000000-0000-4000-8000-000000000001/event_quality_scores`, {
      authorization: "Bearer EXAMPLE-TOKEN",
    }),
  },
  responses: [
    {
      title: "a score with recommendations",
      status: 200,
      body: JSON.stringify({
        request_status: "SUCCESS",
        event_quality_scores: [
          {
            sub_request_status: "SUCCESS",
            event_quality_score: {
              event_type: "PURCHASE",
              score: 7.2,
              recommendations: [{ priority: "P0", description: "Send hashed phone numbers." }],
            },
          },
        ],
      }),
      reading: {
        kind: "answered",
        reports: [
          {
            event: "PURCHASE",
            score: 7.2,
            maxScore: null,
            rating: null,
            keys: [],
            notes: ["P0: Send hashed phone numbers."],
          },
        ],
      },
    },
    {
      title: "the token may not read the pixel",
      status: 401,
      body: JSON.stringify({ message: "The access token is invalid." }),
      reading: unauthorized("HTTP 401: The access token is invalid."),
    },
  ],
};
