// Pinterest's event quality score: a word for each source, and the coverage of each field. It needs a sign-in with ads:read; a
// conversion token is refused.

import type { QualityReport } from "../../kernel/quality.ts";
import type { QualitySource } from "../platform.ts";
import { at, errorText, parseBody, readStatus, shorten, textAt, unauthorized, unreadable } from "../shared/response.ts";
import { bearer, getRequest } from "../shared/settings.ts";
import { shareOf } from "../shared/values.ts";
import { api } from "./request.ts";

const query = "lookback_period=14d&source_platform=WEB&ingestion_source=CONVERSIONS_API";

export const quality: QualitySource = {
  toRequest: (settings) =>
    getRequest(
      `${api}/ad_accounts/${encodeURIComponent(settings.ad_account_id ?? "")}/conversion_eqs?${query}`,
      bearer(settings),
    ),
  read(response, now) {
    const reading = readStatus(response, now, errorText(response));
    if (reading.outcome !== "accepted") return reading;
    const body = parseBody(response);
    return Array.isArray(body) ? { outcome: "answered", reports: body.flatMap(toReports) } : unreadable(response, now);
  },
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
        outcome: "answered",
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

const emptyReport = (event: string): QualityReport => ({
  event,
  score: null,
  maxScore: null,
  rating: null,
  keys: [],
  notes: [],
});

const entriesOf = (value: unknown) => (typeof value === "object" && value !== null ? Object.entries(value) : []);

function toReports(source: unknown): QualityReport[] {
  const events = new Map<string, QualityReport>();
  for (const [key, byEvent] of entriesOf(at(source, "quality_components")))
    for (const [event, one] of entriesOf(byEvent)) {
      const report = events.get(event) ?? emptyReport(shorten(event));
      events.set(event, report);
      const coverage = at(one, "coverage");
      if (typeof coverage === "number") report.keys.push({ key: shorten(key), coverage: shareOf(coverage) });
      const issues = at(one, "issues");
      if (Array.isArray(issues))
        report.notes.push(
          ...issues.map((issue) => shorten(`${key}: ${typeof issue === "string" ? issue : textAt(issue, "message")}`)),
        );
    }
  return [{ ...emptyReport(""), rating: shorten(textAt(source, "overall_status")) || null }, ...events.values()];
}
