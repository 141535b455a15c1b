// Quora's responses: HTTP 200 also for conversions that it rejects, which are listed by their index.

import type { Reading } from "../../kernel/event.ts";
import type { Platform } from "../platform.ts";
import { readByIndex } from "../shared/readers.ts";
import { at, listAt, textAt } from "../shared/json.ts";
import { accepted, errorText, isSuccess, parseBody, readWithoutBody, rejected, retryLater, shorten } from "../shared/response.ts";

export const readResponse: Platform["readResponse"] = (response, conversions, _settings, now) => {
  const all = (reading: Reading): Reading[] => conversions.map(() => reading);
  const detail = errorText(response);
  if (response.status === 423) return all(retryLater(`HTTP 423${detail ? `: ${shorten(detail)}` : ""}`));
  const body = parseBody(response);
  if (!isSuccess(response.status) || typeof at(body, "events_received") !== "number")
    return all(readWithoutBody(response, now, detail));
  const failed = new Map(
    listAt(body, "events").flatMap((result) => {
      const index = at(result, "index");
      const isNamed = typeof index === "number" && index < conversions.length;
      return textAt(result, "status") === "OK" || !isNamed ? [] : [[index, rejected(describe(result))] as const];
    }),
  );
  const errored = Number(at(body, "events_errored") ?? 0);
  // Quora counts errors that it does not list. Then none can be called accepted: they are sent again in halves.
  if (errored > failed.size) return all(rejected(`Quora did not name all of the events that it rejected: ${errored}`));
  // Conversions that the list leaves out were accepted.
  return readByIndex(conversions.length, failed, accepted);
};

function describe(result: unknown): string {
  const text = [textAt(result, "error_code"), textAt(result, "error_message")].filter(Boolean).join(": ");
  return shorten(text) || "Quora gave no reason";
}
