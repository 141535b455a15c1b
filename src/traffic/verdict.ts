// Judges a visit by the sum of its signals.
//
// One hard finding is enough. Of the soft ones the strongest of each category counts, and two categories are needed: no
// single kind of evidence removes a visit. Two contradictions from different sources are hard.

import type { Verdict } from "../kernel/event.ts";
import { findRule, type MatchedRule, type VisitRules } from "./lists.ts";
import { findNetwork } from "./networks/networks.ts";
import type { Observation } from "./observation.ts";
import type { SignalInput, Signal } from "./signal.ts";
import { signals } from "./signals.ts";
import { readUserAgent } from "./userAgent/userAgent.ts";

/** Goes up with every change of signals or points; stored with each verdict. */
export const rulesVersion = 1;

type Finding = { signal: Signal; evidence: string };

export type Judgement = {
  verdict: Verdict;
  /** The `category:name` under which a bot is counted; empty for a person. */
  primary: string;
  findings: Finding[];
  rule: MatchedRule | null;
};

const clean: Verdict = { bot: false, score: 0, reasons: [], rules: rulesVersion };
const twoContradictions = "contradiction:independent contradictions";

export function judge(observation: Observation, rules: VisitRules): Judgement {
  const rule = findRule(observation, rules);
  const findings = collectFindings(observation);
  if (rule?.decision === "allowed") return { verdict: clean, primary: "", findings, rule };
  if (rule) {
    const reasons = [`site rule:denied ${rule.entry}`, ...findings.map(describeFinding)];
    return {
      verdict: { ...clean, bot: true, score: 100, reasons },
      primary: "site rule:denied",
      findings,
      rule,
    };
  }
  if (findings.length === 0) return { verdict: clean, primary: "", findings, rule: null };

  const byWeight = findings.toSorted((one, other) => weight(other.signal) - weight(one.signal));
  const first = byWeight[0] as Finding;
  const isContradicted = hasIndependentContradictions(findings);
  const isHard = first.signal.points === "hard" || isContradicted;
  const categories = strongestByCategory(byWeight);
  const sum = categories.reduce((total, { signal }) => total + weight(signal), 0);
  const score = isHard ? 100 : Math.min(100, sum);
  const bot = isHard || (score >= rules.botThreshold && categories.length > 1);
  const primary =
    first.signal.points !== "hard" && isContradicted ? twoContradictions : `${first.signal.category}:${first.signal.name}`;
  const verdict = { bot, score, reasons: byWeight.map(describeFinding), rules: rulesVersion };
  return { verdict, primary: bot ? primary : "", findings, rule: null };
}

function collectFindings(observation: Observation): Finding[] {
  const { evidence: agent, claims } = readUserAgent(observation.userAgent);
  const seen: SignalInput = { ...observation, agent, claims, network: findNetwork(observation.address) };
  const findings: Finding[] = [];
  for (const signal of signals) {
    const evidence = signal.find(seen);
    if (evidence !== null) findings.push({ signal, evidence });
  }
  return findings;
}

export const weight = ({ points }: Signal): number => (points === "hard" ? 100 : points);

/** `byWeight` begins with the strongest, so the first finding of a category is its strongest. */
function strongestByCategory(byWeight: readonly Finding[]): Finding[] {
  const seen = new Set<string>();
  return byWeight.filter(({ signal }) => !seen.has(signal.category) && seen.add(signal.category));
}

function hasIndependentContradictions(findings: readonly Finding[]): boolean {
  return new Set(findings.flatMap(({ signal }) => signal.source ?? [])).size > 1;
}

const describeFinding = ({ signal, evidence }: Finding) => `${signal.category}:${signal.name}${evidence ? ` (${evidence})` : ""}`;
