// Judges a visit by the sum of its signals.
//
// One hard finding is enough. Of the soft ones the strongest of each category counts, and two categories are needed: no
// single kind of evidence removes a visit. Evidence that many people share adds its points to two others, and is none of the
// two. Two contradictions from different sources are hard. Evidence in shadow is found and counted, and decides nothing.

import type { Verdict } from "../kernel/event.ts";
import { findRule, type MatchedRule, type VisitRules } from "./lists.ts";
import { findNetwork } from "./networks/networks.ts";
import type { Observation } from "./observation.ts";
import { modesOf, nameOf } from "./modes.ts";
import type { SignalInput, Signal } from "./signal.ts";
import { readUserAgent } from "./userAgent/userAgent.ts";

/** Goes up with every change of signals or points; stored with each verdict. */
export const rulesVersion = 2;

type Finding = { signal: Signal; evidence: string };

export type Judgement = {
  verdict: Verdict;
  /** The `category:name` under which a bot is counted; empty for a person. */
  primary: string;
  findings: Finding[];
  /** Found, and without an effect on the verdict. */
  shadows: Finding[];
  /** The verdict if everything in shadow counted. */
  wouldBeBot: boolean;
  rule: MatchedRule | null;
};

const clean: Verdict = { bot: false, score: 0, reasons: [], rules: rulesVersion };
const twoContradictions = "contradiction:independent contradictions";

export function judge(observation: Observation, rules: VisitRules): Judgement {
  const rule = findRule(observation, rules);
  const { findings, shadows } = collectFindings(observation, rules);
  const base = { findings, shadows, rule };
  if (rule?.decision === "allowed") return { ...base, verdict: clean, primary: "", wouldBeBot: false };
  if (rule) {
    const reasons = [`site rule:denied ${rule.entry}`, ...findings.map(describeFinding)];
    const verdict = { ...clean, bot: true, score: 100, reasons };
    return { ...base, verdict, primary: "site rule:denied", wouldBeBot: true };
  }
  const { bot, score, byWeight, primary } = weigh(findings, rules);
  const wouldBeBot = bot || (shadows.length > 0 && weigh([...findings, ...shadows], rules).bot);
  if (findings.length === 0) return { ...base, verdict: clean, primary: "", wouldBeBot };
  const verdict = { bot, score, reasons: byWeight.map(describeFinding), rules: rulesVersion };
  return { ...base, verdict, primary: bot ? primary : "", wouldBeBot };
}

function weigh(findings: readonly Finding[], rules: VisitRules) {
  const byWeight = findings.toSorted((one, other) => weight(other.signal) - weight(one.signal));
  const first = byWeight[0]?.signal;
  const isContradicted = hasIndependentContradictions(findings);
  const isHard = first?.points === "hard" || isContradicted;
  const categories = strongestByCategory(byWeight);
  const own = categories.filter(({ signal }) => !signal.isShared).length;
  const sum = categories.reduce((total, { signal }) => total + weight(signal), 0);
  const score = isHard ? 100 : Math.min(100, sum);
  const bot = isHard || (score >= rules.botThreshold && own > 1);
  const primary = first && (first.points === "hard" || !isContradicted) ? nameOf(first) : twoContradictions;
  return { bot, score, byWeight, primary };
}

function collectFindings(observation: Observation, rules: VisitRules): Pick<Judgement, "findings" | "shadows"> {
  const { evidence: agent, claims } = readUserAgent(observation.userAgent);
  const seen: SignalInput = { ...observation, agent, claims, network: findNetwork(observation.address) };
  const findings: Finding[] = [];
  const shadows: Finding[] = [];
  for (const [signal, mode] of modesOf(rules)) {
    const evidence = mode === "off" ? null : signal.find(seen);
    if (evidence !== null) (mode === "on" ? findings : shadows).push({ signal, evidence });
  }
  return { findings, shadows };
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

const describeFinding = ({ signal, evidence }: Finding) => `${nameOf(signal)}${evidence ? ` (${evidence})` : ""}`;
