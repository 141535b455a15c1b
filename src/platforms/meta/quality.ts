// Meta's Dataset Quality API: event match quality, coverage of match keys, and freshness, for each web event. A token made in
// Events Manager may ask for it too.

import type { QualityReport } from "../../kernel/quality.ts";
import type { ConnectionSettings, PlatformResponse, QualityReading, QualitySource } from "../platform.ts";
import { at, listAt, textAt } from "../shared/json.ts";
import { parseBody, shorten, unreadable } from "../shared/response.ts";
import { bearer, getRequest } from "../shared/settings.ts";
import { shareOf } from "../shared/values.ts";
import { graphOf } from "./request.ts";
import { readFault } from "./response.ts";

export const fields =
  "web{event_name,event_match_quality{composite_score,match_key_feedback{identifier,coverage{percentage}},diagnostics{name,percentage}},event_coverage{percentage,goal_percentage},data_freshness{upload_frequency}}";

/** Asked for on its own: some datasets answer it with error 100, and with that to nothing else. */
const dedupFields =
  "web{event_name,dedupe_key_feedback{dedupe_key,browser_events_with_dedupe_key{percentage},server_events_with_dedupe_key{percentage},overall_browser_coverage_from_dedupe_key{percentage}}}";

const qualityRequest = (settings: ConnectionSettings, wanted: string) =>
  getRequest(
    `${graphOf(settings)}/dataset_quality?dataset_id=${encodeURIComponent(settings.pixel_id ?? "")}&fields=${encodeURIComponent(wanted)}`,
    bearer(settings),
  );

const webOf = (response: PlatformResponse): unknown => {
  const body = parseBody(response);
  return at(body, "web") ?? at(body, "data", 0, "web");
};

export const quality: QualitySource = {
  toRequest: (settings) => qualityRequest(settings, fields),
  notes: {
    toRequest: (settings) => qualityRequest(settings, dedupFields),
    read(response) {
      const web = webOf(response);
      const isRead = response.status === 200 && Array.isArray(web);
      return (isRead ? (web as unknown[]) : []).flatMap((one) => {
        const notes = listAt(one, "dedupe_key_feedback").flatMap(toDedupNote);
        return notes.length ? [{ event: shorten(textAt(one, "event_name")), notes }] : [];
      });
    },
  },
  read(response, now): QualityReading {
    const fault = readFault(response, now);
    if (fault) return fault;
    const web = webOf(response);
    return Array.isArray(web)
      ? { kind: "answered", reports: web.map(toReport).filter(({ event }) => event !== "") }
      : unreadable(response, now);
  },
};

function toDedupNote(one: unknown): string[] {
  const key = textAt(one, "dedupe_key");
  const parts = [
    ["browser_events_with_dedupe_key", "of browser events have it"],
    ["server_events_with_dedupe_key", "of server events"],
    ["overall_browser_coverage_from_dedupe_key", "of browser events are covered"],
  ].flatMap(([field = "", words = ""]) => {
    const percentage = at(one, field, "percentage");
    return typeof percentage === "number" ? [`${percentage} % ${words}`] : [];
  });
  return key && parts.length ? [shorten(`deduplication by ${key}: ${parts.join(", ")}`)] : [];
}

function toReport(one: unknown): QualityReport {
  const score = at(one, "event_match_quality", "composite_score");
  const isScored = typeof score === "number";
  const covered = at(one, "event_coverage", "percentage");
  const frequency = textAt(one, "data_freshness", "upload_frequency");
  return {
    event: shorten(textAt(one, "event_name")),
    score: isScored ? score : null,
    maxScore: isScored ? 10 : null,
    rating: null,
    keys: listAt(one, "event_match_quality", "match_key_feedback").flatMap((key) => {
      const percentage = at(key, "coverage", "percentage");
      const name = shorten(textAt(key, "identifier"));
      return typeof percentage === "number" && name ? [{ key: name, coverage: shareOf(percentage) }] : [];
    }),
    notes: [
      ...listAt(one, "event_match_quality", "diagnostics").map((problem) =>
        shorten(`${textAt(problem, "name")} (${textAt(problem, "percentage")} %)`),
      ),
      ...(typeof covered === "number"
        ? [shorten(`event coverage ${covered} %, the goal is ${textAt(one, "event_coverage", "goal_percentage")} %`)]
        : []),
      ...(frequency ? [shorten(`freshness: ${frequency}`)] : []),
    ],
  };
}
