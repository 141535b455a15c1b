// Amazon's responses: HTTP 207 with the accepted and the rejected events, each by its index.

import type { Reading } from "../../kernel/event.ts";
import type { Platform } from "../platform.ts";
import { readByIndex } from "../shared/readers.ts";
import { at, listAt, textAt } from "../shared/json.ts";
import { accepted, errorText, isSuccess, parseBody, readWithoutBody, rejected, retryLater, shorten } from "../shared/response.ts";

export const readResponse: Platform["readResponse"] = (response, conversions, _settings, now) => {
  const body = parseBody(response);
  const [taken, failed] = [listAt(body, "success"), listAt(body, "error")];
  if (!isSuccess(response.status) || taken.length + failed.length === 0) {
    const reading = readWithoutBody(response, now, errorText(response));
    return conversions.map(() => reading);
  }
  const first = firstIndex([...taken, ...failed].map(indexOf), conversions.length);
  const listed = [
    ...taken.map((one) => [indexOf(one) - first, accepted] as const),
    ...failed.map((one) => [indexOf(one) - first, readError(one)] as const),
  ];
  // Sending it again is safe: its event id is the same.
  return readByIndex(conversions.length, listed, retryLater("Amazon's answer left this event out"));
};

const indexOf = (one: unknown) => Number(at(one, "index"));

/** The older API counted from one; this one counts from zero, as far as is known. */
const firstIndex = (indexes: readonly number[], count: number) => (!indexes.includes(0) && indexes.includes(count) ? 1 : 0);

function readError(error: unknown): Reading {
  const errors = listAt(error, "errors");
  const messages = errors.map((one) => {
    const message = [textAt(one, "code"), textAt(one, "message")].filter(Boolean).join(": ");
    const field = textAt(one, "fieldLocation");
    return field ? `${message} (${field})` : message;
  });
  const text = shorten(messages.join("; ")) || "Amazon gave no reason";
  const isTransient = errors.some((one) => /INTERNAL|THROTTL|TIMEOUT|UNAVAILABLE/i.test(textAt(one, "code")));
  return isTransient ? retryLater(text) : rejected(text);
}
