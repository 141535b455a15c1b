// Snapchat's responses: one status for the whole request. Only the message shows that a token is wrong: it is often HTTP 400.
// The validation endpoint, which test events go to, also has a log for each event.

import type { Reading } from "../../kernel/event.ts";
import type { Platform, PlatformResponse } from "../platform.ts";
import { at, listAt, textAt } from "../shared/json.ts";
import { accepted, isTransientStatus, parseBody, readWithoutBody, rejected, shorten, unauthorized } from "../shared/response.ts";

const aboutToken = /access[ _-]?token|oauth|unauthori[sz]ed|not authori[sz]ed|authenticat|permission/i;

export const readResponse: Platform["readResponse"] = (response, conversions, _settings, now) => {
  const reading = readWhole(response, now);
  const isVerdict = reading.kind === "accepted" || reading.kind === "rejected";
  const logs = isVerdict ? listAt(parseBody(response), "event_logs") : [];
  return conversions.map(({ mode }, index) => {
    // `event` is the index of the event. A log for each of them is in their order.
    const log = logs.length === conversions.length ? logs[index] : logs.find((one) => at(one, "event") === index);
    const logged = log === undefined ? null : readLog(log);
    // Nothing is counted in test mode. Elsewhere a rejected request took no event, whatever its log says.
    return logged && (logged.kind === "rejected" || mode === "test") ? logged : reading;
  });
};

function readLog(log: unknown): Reading | null {
  const status = textAt(log, "status").toUpperCase();
  const errors = [...listAt(log, "errors", "error_msgs"), ...listAt(log, "errors", "codes")];
  if (status === "VALID" && errors.length === 0) return accepted;
  const message = shorten(errors.filter((one) => typeof one === "string").join("; "));
  if (status !== "INVALID" && message === "") return null;
  return rejected(`Snapchat answered ${["INVALID", message].filter(Boolean).join(": ")}`);
}

function readWhole(response: PlatformResponse, now: number): Reading {
  const { status } = response;
  const parsed = parseBody(response);
  const message = messageOf(parsed);
  const result = textAt(parsed, "status").toUpperCase();
  if (status >= 400 && !isTransientStatus(status) && aboutToken.test(message))
    return unauthorized(`HTTP ${status}: ${shorten(message)}`);
  if (status >= 300 || result === "") return readWithoutBody(response, now, message);
  if (result === "VALID") return accepted;
  const error = `Snapchat answered ${shorten(result)}${message && `: ${shorten(message)}`}`;
  return { kind: aboutToken.test(message) ? "unauthorized" : "rejected", error };
}

/** The reason and the messages, which are below `errors` or at the top. */
function messageOf(parsed: unknown): string {
  const messages = [...listAt(parsed, "errors", "error_msgs"), ...listAt(parsed, "error_msgs")];
  const texts = [textAt(parsed, "reason"), ...messages].filter((one) => typeof one === "string" && one !== "");
  return [...new Set(texts)].join("; ") || textAt(parsed, "message");
}
