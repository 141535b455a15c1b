// Reading LinkedIn's answers: a status for each element, or one refusal for all of them whose text names the places.

import type { Conversion, Reading } from "../../kernel/event.ts";
import { awaitSetting, blame } from "../shared/batchRejection.ts";
import type { ConnectionSettings, PlatformResponse } from "../platform.ts";
import {
  at,
  bodyOf,
  later,
  listAt,
  readStatus,
  shorten,
  textAt,
  unreadable,
} from "../shared/readResponse.ts";

/** `ruleOf` is the URN of the conversion rule that a conversion goes to. */
export function readLinkedInAnswer(
  response: PlatformResponse,
  conversions: readonly Conversion[],
  settings: ConnectionSettings,
  ruleOf: (conversion: Conversion) => string | null,
): Reading[] {
  const body = bodyOf(response);
  // Rest.li errors are JSON, gateways before it answer in plain text.
  const message = textAt(body, "message") || (body === undefined ? response.body : "");
  const readOne = (status: number, words: string, conversion: Conversion): Reading =>
    aboutRule(status, words, ruleOf(conversion))
      ? awaitSetting(`HTTP ${status}: ${shorten(words)}`, conversion, settings, "default_rule")
      : readElement({ ...response, status }, words);

  const whole = readElement(response, message);
  if (whole.outcome !== "accepted") {
    const rules = conversions.map(ruleOf);
    // One rule that is named makes the request fail for all; those of other rules go again without it.
    if (rules.some((rule) => aboutRule(response.status, message, rule)))
      return conversions.map((one, i) =>
        aboutRule(response.status, message, rules[i] ?? null)
          ? readOne(response.status, message, one)
          : later(`HTTP ${response.status}: refused because of another event in the same request`, 1),
      );
    return whole.outcome === "rejected"
      ? blame(response, conversions.length, faults(message), message)
      : conversions.map(() => whole);
  }
  if (!Array.isArray(at(body, "elements"))) return conversions.map(() => unreadable(response));
  const elements = listAt(body, "elements");
  return conversions.map((conversion, index): Reading => {
    const status = Number(textAt(elements[index], "status"));
    if (!status) return later("LinkedIn's answer left this event out");
    return readOne(status, textAt(elements[index], "error", "message"), conversion);
  });
}

/**
 * Whether a refusal is about the conversion rule: unknown, somebody else's, switched off, or fed by the Insight Tag. It
 * names the rule, or says which method the rule must have.
 */
function aboutRule(status: number, message: string, rule: string | null): boolean {
  if (rule === null || (status !== 400 && status !== 403 && status !== 404)) return false;
  const id = rule.slice(rule.lastIndexOf(":") + 1);
  const named = message.match(/\d+/g)?.includes(id) ?? false;
  return (named && /conversion/i.test(message)) || /CONVERSIONS_API/.test(message);
}

function readElement(response: PlatformResponse, message: string): Reading {
  const because = message ? `: ${shorten(message)}` : "";
  // Nothing is wrong with the conversions: they wait, like those of a dead token, until somebody sets another version.
  if (response.status === 426)
    return { outcome: "unauthorized", error: `HTTP 426: LinkedIn has retired the API version${because}` };
  if (response.status === 423) return later(`HTTP 423${because}`);
  return readStatus(response, message);
}

/** `Index: 0, ERROR :: /path :: what\nERROR :: …\nIndex: 2, ERROR :: …`: every line belongs to the index before it. */
function faults(message: string): Map<number, string> {
  const parts = message.split(/Index:\s*(\d{1,9})\b[\s,]*/);
  const found = new Map<number, string>();
  for (let i = 1; i < parts.length; i += 2) {
    const index = Number(parts[i]);
    found.set(index, [found.get(index) ?? "", parts[i + 1] ?? ""].join(" ").trim());
  }
  return found;
}
