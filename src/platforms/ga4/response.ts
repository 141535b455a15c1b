// Google Analytics' responses: the collector sends an empty body, the validation server reports errors with HTTP 200.

import type { Reading } from "../../kernel/event.ts";
import type { Platform, PlatformResponse } from "../platform.ts";
import { listAt, parseJson, readStatus, rejected, shorten, textAt, unreadable } from "../shared/response.ts";

export const readResponse: Platform["readResponse"] = (response, conversions, _settings, now) => {
  const reading = readWhole(response, now);
  return conversions.map(() => reading);
};

function readWhole(response: PlatformResponse, now: number): Reading {
  const reading = readStatus(response, now);
  if (reading.outcome === "accepted" && response.isCut) return unreadable(response, now);
  const messages = listAt(parseJson(response.body), "validationMessages");
  if (reading.outcome !== "accepted" || messages.length === 0) return reading;
  const texts = messages.map((message) =>
    [textAt(message, "validationCode"), textAt(message, "fieldPath"), textAt(message, "description")].filter(Boolean).join(" "),
  );
  return rejected(shorten(texts.join("; ")) || "not valid");
}
