// Snapchat's event quality scores. The names of their fields are not documented where we could read them, so objects with a score
// are looked for, and what is not recognised is left out. Snap's terms allow this data inside a company, not on a public page.

import type { QualityReport } from "../../kernel/quality.ts";
import type { QualitySource } from "../platform.ts";
import { at, listAt, textAt } from "../shared/json.ts";
import { errorText, parseBody, readStatus, shorten, unreadable } from "../shared/response.ts";
import { bearer, getRequest } from "../shared/settings.ts";

export const ads = "https://adsapi.snapchat.com/v1";

export const quality: QualitySource = {
  toRequest: (settings) =>
    getRequest(`${ads}/pixels/${encodeURIComponent(settings.pixel_id ?? "")}/event_quality_scores`, bearer(settings)),
  read(response, now) {
    const reading = readStatus(response, now, errorText(response));
    if (reading.kind !== "accepted") return reading;
    const reports = findReports(parseBody(response), maxDepth);
    return reports.length ? { kind: "answered", reports } : unreadable(response, now);
  },
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
