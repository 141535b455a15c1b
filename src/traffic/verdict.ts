// Judges a visit by the sum of its signals.
//
// One hard finding is enough. Of the soft ones the strongest of each category counts, and two categories are needed: no
// single kind of evidence removes a visit. Evidence that many people share adds its points to two others, and is none of the
// two. How a page is used does not confirm what the network shows, nor the other way round: the one is about the hands on a
// browser, the other about a program in place of one. People meet both by accident: whoever taps a touchpad in an office has
// short presses, and the headers, link and network of all colleagues. Two contradictions from different sources are hard.
// Evidence in shadow is found and counted, and decides nothing.

import type { Verdict, Visit } from "../kernel/event.ts";
import type { Frequency } from "./frequency.ts";
import { findRule, type MatchedRule, type VisitRules } from "./lists.ts";
import { findNetwork } from "./networks/networks.ts";
import { unobserved, type Observation } from "./observation.ts";
import { modesOf, nameOf } from "./modes.ts";
import type { Category, Signal, SignalInput } from "./signal.ts";
import { signals } from "./signals.ts";
import { readUserAgent } from "./userAgent/userAgent.ts";

/** Goes up with every change of signals or points; stored with each verdict. */
export const rulesVersion = 6;

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
const denied = (entry: string, findings: readonly Finding[] = []): Verdict => ({
  bot: true,
  score: 100,
  reasons: [`site rule:denied ${entry}`, ...findings.map(describeFinding)],
  rules: rulesVersion,
});
const verdictOf = ({ bot, score, byWeight }: Pick<ReturnType<typeof weigh>, "bot" | "score" | "byWeight">): Verdict => ({
  bot,
  score,
  reasons: byWeight.map(describeFinding),
  rules: rulesVersion,
});
const twoContradictions = "contradiction:independent contradictions";

export function judge(observation: Observation, rules: VisitRules): Judgement {
  const rule = findRule(observation, rules);
  const { findings, shadows } = collectFindings(observation, rules);
  const base = { findings, shadows, rule };
  if (rule?.decision === "allowed") return { ...base, verdict: clean, primary: "", wouldBeBot: false };
  if (rule) return { ...base, verdict: denied(rule.entry, findings), primary: "site rule:denied", wouldBeBot: true };
  // Most visits.
  if (findings.length === 0 && shadows.length === 0) return { ...base, verdict: clean, primary: "", wouldBeBot: false };
  const weighed = weigh(findings, rules);
  const { bot, primary } = weighed;
  const wouldBeBot = bot || (shadows.length > 0 && weigh([...findings, ...shadows], rules).bot);
  const inShadow = shadows.length > 0 ? { shadows: shadows.toSorted(byWeightOf).map(describeFinding) } : {};
  return { ...base, verdict: { ...verdictOf(weighed), ...inShadow }, primary: bot ? primary : "", wouldBeBot };
}

const byName = new Map(signals.map((signal) => [nameOf(signal), signal]));

/**
 * Judges a stored visit again, with what is known of its source by now; null unless it turns out to be a bot's. What was found when it
 * came still counts.
 */
export function judgeLater({ browser, verdict }: Visit, frequency: Frequency, rules: VisitRules): Verdict | null {
  if (!browser || verdict?.bot) return null;
  const seen = { ...unobserved, userAgent: browser.userAgent, address: browser.address, frequency };
  const { findings } = collectFindings(seen, rules);
  for (const reason of verdict?.reasons ?? []) {
    const earlier = readFinding(reason);
    if (earlier && findings.every((one) => one.signal !== earlier.signal)) findings.push(earlier);
  }
  const weighed = weigh(findings, rules);
  return weighed.bot && !findRule(seen, rules) ? { ...verdictOf(weighed), firstScore: verdict?.score ?? 0 } : null;
}

/**
 * Judges a stored visit by other rules, from the evidence that its verdict names; undefined without any. Signals that were off when it
 * came were not looked for.
 */
export function judgeStored(
  { browser, verdict }: Visit,
  rules: VisitRules,
  countryOf: ((address: string) => string | null) | null,
): Verdict | undefined {
  const found = [...(verdict?.reasons ?? []), ...(verdict?.shadows ?? [])].flatMap((reason) => readFinding(reason) ?? []);
  if (browser) {
    const { userAgent, address } = browser;
    const rule = findRule({ ...unobserved, userAgent, address, country: countryOf?.(address) ?? null }, rules);
    if (rule?.decision === "allowed") return undefined;
    if (rule) return denied(rule.entry);
  }
  const modes = modesOf(rules).of;
  const inMode = (mode: string) => found.filter(({ signal }) => modes.get(signal) === mode);
  const weighed = weigh(inMode("on"), rules);
  if (weighed.byWeight.length === 0) return undefined;
  const { firstScore } = verdict ?? {};
  return { ...verdictOf(weighed), ...(weighed.bot && firstScore !== undefined && { firstScore }) };
}

/** Reads a reason of a verdict; null if it names no signal of the current rules. */
function readFinding(reason: string): Finding | null {
  const [, name = "", evidence = ""] = /^(.*?)(?: \((.*)\))?$/s.exec(reason) ?? [];
  const signal = byName.get(name);
  return signal ? { signal, evidence } : null;
}

/** Names the signal of a reason and explains it in a sentence; null if the current rules have no such signal. */
export function explainReason(reason: string): { signal: string; why: string } | null {
  const finding = readFinding(reason);
  return finding && { signal: nameOf(finding.signal), why: finding.signal.why };
}

/** The names of all evidence against visits, with what is in shadow. */
export function evidenceOf(visits: readonly Pick<Visit, "verdict">[]): Set<string> {
  const reasons = visits.flatMap(({ verdict }) => [...(verdict?.reasons ?? []), ...(verdict?.shadows ?? [])]);
  return new Set(reasons.flatMap((reason) => readFinding(reason)?.signal ?? []).map(nameOf));
}

function weigh(findings: readonly Finding[], rules: VisitRules) {
  const byWeight = findings.toSorted(byWeightOf);
  const first = byWeight[0]?.signal;
  const isContradicted = hasIndependentContradictions(findings);
  const isHard = first?.points === "hard" || isContradicted;
  const [ofUse, ofSource] = [sumUp(byWeight, aboutSource), sumUp(byWeight, aboutUse)];
  const isConvicted = [ofUse, ofSource].some(({ sum, own }) => sum >= rules.botThreshold && own > 1);
  const score = isHard ? 100 : Math.min(100, Math.max(ofUse.sum, ofSource.sum));
  const primary = first && (first.points === "hard" || !isContradicted) ? nameOf(first) : twoContradictions;
  return { bot: isHard || isConvicted, score, byWeight, primary };
}

const aboutUse: ReadonlySet<Category> = new Set(["behaviour", "pointer", "typing", "window"]);
/** The other categories confirm both. */
const aboutSource: ReadonlySet<Category> = new Set([
  "headers",
  "connection",
  "velocity",
  "click id",
  "volume",
  "engagement",
  "cookie",
  "tag",
]);

function sumUp(byWeight: readonly Finding[], without: ReadonlySet<Category>) {
  const some = byWeight.filter(({ signal }) => !without.has(signal.category));
  return {
    sum: strongestByCategory(some).reduce((total, { signal }) => total + weight(signal), 0),
    /** Categories that are not only shared with others. */
    own: new Set(some.flatMap(({ signal }) => (signal.isShared ? [] : signal.category))).size,
  };
}

function collectFindings(observation: Observation, rules: VisitRules): Pick<Judgement, "findings" | "shadows"> {
  const { evidence: agent, claims } = readUserAgent(observation.userAgent);
  const seen: SignalInput = { ...observation, agent, claims, network: findNetwork(observation.address) };
  const findings: Finding[] = [];
  const shadows: Finding[] = [];
  for (const { signal, isOn } of modesOf(rules).active) {
    const evidence = signal.find(seen);
    if (evidence !== null) (isOn ? findings : shadows).push({ signal, evidence });
  }
  return { findings, shadows };
}

export const weight = ({ points }: Signal): number => (points === "hard" ? 100 : points);

const byWeightOf = (one: Finding, other: Finding) => weight(other.signal) - weight(one.signal);

/** `byWeight` begins with the strongest, so the first finding of a category is its strongest. */
function strongestByCategory(byWeight: readonly Finding[]): Finding[] {
  const seen = new Set<string>();
  return byWeight.filter(({ signal }) => !seen.has(signal.category) && seen.add(signal.category));
}

function hasIndependentContradictions(findings: readonly Finding[]): boolean {
  return new Set(findings.flatMap(({ signal }) => signal.source ?? [])).size > 1;
}

const describeFinding = ({ signal, evidence }: Finding) => `${nameOf(signal)}${evidence ? ` (${evidence})` : ""}`;
