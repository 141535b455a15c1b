// Google Analytics' responses: the collector sends an empty body, the validation server reports errors with HTTP 200.

import { readForAll } from "../shared/readers.ts";
import { listAt, parseJson, textAt } from "../shared/json.ts";
import { readStatus, rejected, shorten, unreadable } from "../shared/response.ts";

export const readResponse = readForAll((response, now) => {
  const reading = readStatus(response, now);
  if (reading.kind === "accepted" && response.isCut) return unreadable(response, now);
  const messages = listAt(parseJson(response.body), "validationMessages");
  if (reading.kind !== "accepted" || messages.length === 0) return reading;
  const texts = messages.map((message) =>
    [textAt(message, "validationCode"), textAt(message, "fieldPath"), textAt(message, "description")].filter(Boolean).join(" "),
  );
  return rejected(shorten(texts.join("; ")) || "not valid");
});
