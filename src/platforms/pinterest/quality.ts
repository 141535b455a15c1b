// Pinterest's event quality score: a word for each source, and the coverage of each field. It needs a sign-in with ads:read; a
// conversion token is refused.

import type { QualityReport } from "../../kernel/quality.ts";
import type { QualitySource } from "../platform.ts";
import { at, textAt } from "../shared/json.ts";
import { errorText, parseBody, readStatus, shorten, unreadable } from "../shared/response.ts";
import { bearer, getRequest } from "../shared/settings.ts";
import { shareOf } from "../shared/values.ts";
import { api } from "./request.ts";

export const query = "lookback_period=14d&source_platform=WEB&ingestion_source=CONVERSIONS_API";

export const quality: QualitySource = {
  toRequest: (settings) =>
    getRequest(
      `${api}/ad_accounts/${encodeURIComponent(settings.ad_account_id ?? "")}/conversion_eqs?${query}`,
      bearer(settings),
    ),
  read(response, now) {
    const reading = readStatus(response, now, errorText(response));
    if (reading.kind !== "accepted") return reading;
    const body = parseBody(response);
    return Array.isArray(body) ? { kind: "answered", reports: body.flatMap(toReports) } : unreadable(response, now);
  },
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
