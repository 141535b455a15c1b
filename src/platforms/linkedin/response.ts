// LinkedIn's responses: a status for each element, or one rejection of all whose message names the indexes.

import type { Conversion, Reading } from "../../kernel/event.ts";
import type { Platform, PlatformResponse } from "../platform.ts";
import { readBatchRejection, resendable, waitForSetting } from "../shared/batchRejection.ts";
import {
  at,
  listAt,
  parseBody,
  readStatus,
  retryLater,
  shorten,
  textAt,
  unauthorized,
  unreadable,
} from "../shared/response.ts";
import { ruleOf } from "./request.ts";

export const readResponse: Platform["readResponse"] = (response, conversions, settings, now) => {
  const body = parseBody(response);
  // Rest.li errors are JSON; gateways in front of it answer in plain text.
  const message = textAt(body, "message") || (body === undefined ? response.body : "");
  const readOne = (status: number, detail: string, conversion: Conversion): Reading =>
    isAboutRule(status, detail, ruleOf(conversion, settings))
      ? waitForSetting(`HTTP ${status}: ${shorten(detail)}`, conversion, settings, "default_rule")
      : readElement({ ...response, status }, detail, now);

  const whole = readElement(response, message, now);
  if (whole.outcome !== "accepted") {
    const rules = conversions.map((one) => ruleOf(one, settings));
    const isRejected = rules.map((rule) => isAboutRule(response.status, message, rule));
    // One wrong rule fails the whole request; conversions of other rules are resent without it.
    if (isRejected.includes(true))
      return conversions.map((one, i) =>
        isRejected[i] ? readOne(response.status, message, one) : resendable(response.status),
      );
    return whole.outcome === "rejected"
      ? readBatchRejection(response, conversions.length, rejectedIn(message), message, now)
      : conversions.map(() => whole);
  }
  if (!Array.isArray(at(body, "elements"))) return conversions.map(() => unreadable(response, now));
  const elements = listAt(body, "elements");
  return conversions.map((conversion, index): Reading => {
    const status = Number(textAt(elements[index], "status"));
    if (!status) return retryLater("LinkedIn's answer left this event out");
    return readOne(status, textAt(elements[index], "error", "message"), conversion);
  });
};

/**
 * True if the conversion rule is at fault: unknown, another account's, disabled, or fed by the Insight Tag. LinkedIn then
 * names the rule, or the method that the rule must have.
 */
function isAboutRule(status: number, message: string, rule: string | null): boolean {
  if (rule === null || (status !== 400 && status !== 403 && status !== 404)) return false;
  const id = rule.slice(rule.lastIndexOf(":") + 1);
  const isNamed = message.match(/\d+/g)?.includes(id) ?? false;
  return (isNamed && /conversion/i.test(message)) || /CONVERSIONS_API/.test(message);
}

function readElement(response: PlatformResponse, message: string, now: number): Reading {
  const because = message ? `: ${shorten(message)}` : "";
  // The conversions are valid: they wait, like those of an expired token, until another version is set.
  if (response.status === 426)
    return unauthorized(`HTTP 426: LinkedIn has retired the API version${because}`);
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
