// LinkedIn's responses: a status for each element, or one rejection of all whose message names the indexes.

import type { Reading } from "../../kernel/event.ts";
import type { ConnectionSettings, Platform, PlatformResponse } from "../platform.ts";
import { readBatchRejection, resendable, waitForSetting } from "../shared/batchRejection.ts";
import { at, listAt, textAt } from "../shared/json.ts";
import { isSuccess, parseBody, readStatus, rejected, retryLater, shorten, unauthorized, unreadable } from "../shared/response.ts";
import { joinReadings, type Target } from "../shared/targets.ts";
import { elementsOf, ruleId } from "./request.ts";

export const readResponse: Platform["readResponse"] = (response, conversions, settings, now) => {
  const sent = elementsOf(conversions, settings);
  return joinReadings(conversions, sent, readElements(response, sent, settings, now));
};

function readElements(response: PlatformResponse, sent: readonly Target[], settings: ConnectionSettings, now: number): Reading[] {
  const body = parseBody(response);
  // Rest.li errors are JSON; gateways in front of it answer in plain text.
  const message = textAt(body, "message") || (body === undefined ? response.body : "");
  const readOne = (status: number, detail: string, { conversion, target }: Target): Reading =>
    isAboutRule(status, detail, target)
      ? waitForSetting(`HTTP ${status}: ${shorten(detail)}`, conversion, settings, "default_rule")
      : readElement({ ...response, status }, detail, now);

  const whole = readElement(response, message, now);
  if (whole.kind !== "accepted") {
    const isRejected = sent.map(({ target }) => isAboutRule(response.status, message, target));
    // One wrong rule fails the whole request; conversions of other rules are resent without it.
    if (isRejected.includes(true))
      return sent.map((one, i) => (isRejected[i] ? readOne(response.status, message, one) : resendable(response.status)));
    return whole.kind === "rejected"
      ? readBatchRejection(response, { count: sent.length, reasons: rejectedIn(message), detail: message }, now)
      : sent.map(() => whole);
  }
  if (!Array.isArray(at(body, "elements"))) return sent.map(() => unreadable(response, now));
  const elements = listAt(body, "elements");
  const statuses = sent.map((_, index) => Number(textAt(elements[index], "status")));
  return sent.map((one, index): Reading => {
    const status = statuses[index];
    if (!status) return retryLater("LinkedIn's answer left this event out");
    const detail = textAt(elements[index], "error", "message");
    // Waiting for the setting would send the conversion to its other rules again, every hour.
    const isCounted = sent.some(({ conversion }, i) => conversion === one.conversion && isSuccess(statuses[i] ?? 0));
    if (isCounted && isAboutRule(status, detail, one.target)) return rejected(`HTTP ${status}: ${shorten(detail)}`);
    return readOne(status, detail, one);
  });
}

/**
 * True if the conversion rule is at fault: unknown, another account's, disabled, or fed by the Insight Tag. LinkedIn then
 * names the rule, or the method that the rule must have.
 */
function isAboutRule(status: number, message: string, rule: string | undefined): boolean {
  if (rule === undefined || (status !== 400 && status !== 403 && status !== 404)) return false;
  const isNamed = message.match(/\d+/g)?.includes(ruleId(rule)) ?? false;
  return (isNamed && /conversion/i.test(message)) || /CONVERSIONS_API/.test(message);
}

function readElement(response: PlatformResponse, message: string, now: number): Reading {
  const because = message ? `: ${shorten(message)}` : "";
  // The conversions are valid: they wait, like those of an expired token, until another version is set.
  if (response.status === 426) return unauthorized(`HTTP 426: LinkedIn has retired the API version${because}`);
  if (response.status === 423) return retryLater(`HTTP 423${because}`);
  return readStatus(response, now, message);
}

/** `Index: 0, ERROR :: /path :: what\nERROR :: …\nIndex: 2, ERROR :: …`: every line belongs to the index before it. */
function rejectedIn(message: string): Map<number, string> {
  const parts = message.split(/Index:\s*(\d{1,9})\b[\s,]*/);
  const found = new Map<number, string>();
  for (let i = 1; i < parts.length; i += 2) {
    const index = Number(parts[i]);
    found.set(index, [found.get(index) ?? "", parts[i + 1] ?? ""].join(" ").trim());
  }
  return found;
}
