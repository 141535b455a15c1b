// Snapchat's event quality scores. The names of their fields are not documented where we could read them, so objects with a score
// are looked for, and what is not recognised is left out. Snap's terms allow this data inside a company, not on a public page.

import type { QualityReport } from "../../kernel/quality.ts";
import type { QualitySource } from "../platform.ts";
import { at, errorText, listAt, parseBody, readStatus, shorten, textAt, unauthorized, unreadable } from "../shared/response.ts";
import { bearer, getRequest } from "../shared/settings.ts";

const ads = "https://adsapi.snapchat.com/v1";

export const quality: QualitySource = {
  toRequest: (settings) =>
    getRequest(`${ads}/pixels/${encodeURIComponent(settings.pixel_id ?? "")}/event_quality_scores`, bearer(settings)),
  read(response, now) {
    const reading = readStatus(response, now, errorText(response));
    if (reading.outcome !== "accepted") return reading;
    const reports = findReports(parseBody(response), maxDepth);
    return reports.length ? { outcome: "answered", reports } : unreadable(response, now);
  },
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
        outcome: "answered",
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

const maxDepth = 6;
const maxReports = 100;
const eventNames = ["event_type", "event_name", "event"];
const scoreNames = ["score", "event_quality_score", "overall_score"];
const noteNames = ["description", "message", "recommendation", "title"];

function firstText(value: unknown, names: readonly string[]): string {
  for (const name of names) {
    const text = textAt(value, name);
    if (text) return shorten(text);
  }
  return "";
}

function findReports(value: unknown, depth: number): QualityReport[] {
  if (typeof value !== "object" || value === null || depth === 0) return [];
  const score = scoreNames.map((name) => at(value, name)).find((one) => typeof one === "number");
  const event = firstText(value, eventNames);
  if (score !== undefined && event) return [toReport(value, event, score)];
  return Object.values(value)
    .flatMap((inner) => findReports(inner, depth - 1))
    .slice(0, maxReports);
}

const toReport = (value: unknown, event: string, score: number): QualityReport => ({
  event,
  score,
  maxScore: null,
  rating: null,
  keys: [],
  notes: listAt(value, "recommendations")
    .map((one) => [textAt(one, "priority"), firstText(one, noteNames)].filter(Boolean).join(": "))
    .filter(Boolean),
});
