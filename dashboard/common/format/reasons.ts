// Plain text for the reasons of verdicts and filters. A reason is stored as "category:name (evidence)".

import { commonText } from "../../messages/common.ts";
import { serverText } from "../../messages/server.ts";

const nameOf = (code: string) => (commonText.reasons as Readonly<Record<string, string>>)[code];

/** Writes what a signal saw: a count, what it contradicts, or a name. */
function evidenceText(evidence: string): string {
  const [, count, what = ""] = /^(\d+) (\D+)$/.exec(evidence) ?? [];
  const counters: Readonly<Record<string, ((count: number) => string) | undefined>> = commonText.evidence;
  const counted = Object.hasOwn(counters, what) ? counters[what]?.(Number(count)) : undefined;
  if (counted !== undefined) return counted;
  const [, part, all, usual] = /^(\d+) of (\d+), usually (\d+)$/.exec(evidence) ?? [];
  if (part && all && usual) return commonText.evidenceUsual(part, all, usual);
  const [, seen, claimed] = /^(.*), not (.*)$/s.exec(evidence) ?? [];
  return seen && claimed ? commonText.evidenceNot(seen, claimed) : serverText(evidence);
}

const pattern = /^(.*?)(?: \((.*)\))?$/s;

/** Turns "user agent:named bot (AhrefsBot)" into "Known bot: AhrefsBot". A reason without a name here stays as it is. */
export function reasonText(reason: string): string {
  const [, code = reason, evidence] = pattern.exec(reason) ?? [];
  const withDetail = (name: string, detail: string | undefined) =>
    detail ? commonText.reasonDetail(name, evidenceText(detail)) : name;
  const name = nameOf(code);
  if (name) return withDetail(name, evidence);
  const [category = "", ...rest] = reason.split(":");
  const detail = rest.join(":");
  if (category === "contradiction") return withDetail(commonText.reasons["contradiction:independent contradictions"], detail);
  const ofCategory = nameOf(category);
  if (ofCategory) return withDetail(ofCategory, detail);
  const rule = /^site rule:denied (.*)$/s.exec(reason);
  if (rule) return withDetail(commonText.reasons["site rule:denied"], rule[1]);
  return reason.replace(/:\s*/, ": ");
}

export type FilterReason = { code: string; detail: string | null };

/** Returns a text like "Blocked email domain: spam.example". The detail of "only bot visits" is the reason of a verdict. */
export function filterReasonText({ code, detail }: FilterReason): string {
  const name = nameOf(code) ?? code;
  if (detail === null) return name;
  if (code === "late verdict") return `${name} ${detail}`;
  return commonText.reasonDetail(name, code === "only bot visits" ? reasonText(detail) : detail);
}
