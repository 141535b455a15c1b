// Serves bot visits and their verdicts.

import ipaddr from "ipaddr.js";
import type { Answer } from "../../contract/contract.ts";
import { say } from "../../kernel/messages/message.ts";
import { Refusal } from "../../kernel/refusal.ts";
import { dayMs, hourMs } from "../../kernel/time.ts";
import {
  suspicious,
  type BotVisit,
  type ClickBucket,
  type ClickCount,
  type EvidenceBucket,
} from "../../store/statistics/traffic.ts";
import { observeDescription, explainVerdict } from "../../traffic/explain.ts";
import { compileLists, type VisitRules } from "../../traffic/lists.ts";
import { findNetwork } from "../../traffic/networks/networks.ts";
import { modesOf, nameOf } from "../../traffic/modes.ts";
import { readHeaders, type Observation } from "../../traffic/observation.ts";
import type { Signal } from "../../traffic/signal.ts";
import { notFound, type Handlers } from "../call.ts";
import { checkTimes, listOf, setFileName, pageOf, readCursor, toCsvById, type Column } from "../lists.ts";
import type { ApiContext } from "../context.ts";

type Names =
  | "GET /sites/:site/bots"
  | "GET /sites/:site/bots.csv"
  | "GET /sites/:site/bots/:visit"
  | "GET /sites/:site/invalid-clicks"
  | "GET /sites/:site/invalid-clicks.csv"
  | "GET /sites/:site/traffic/evidence"
  | "POST /sites/:site/traffic/check";

const columns: readonly Column<ReturnType<typeof toVisit>>[] = [
  { title: "seen", at: ({ seenAt }) => seenAt },
  { title: "reason", cell: ({ reason }) => reason },
  { title: "score", cell: ({ verdict }) => verdict.score },
  { title: "signals", cell: ({ verdict }) => verdict.reasons.join("; ") },
  { title: "in shadow", cell: ({ verdict }) => verdict.shadows?.join("; ") ?? null },
  { title: "page", cell: ({ page }) => page },
  { title: "user agent", cell: ({ userAgent }) => userAgent },
  { title: "network", cell: ({ network }) => network },
  { title: "id", cell: ({ id }) => id },
];

/** As the forms of the platforms' click-quality teams ask for them. */
const clickColumns: readonly Column<BotVisit>[] = [
  { title: "time", at: ({ seenAt }) => seenAt },
  { title: "click id name", cell: ({ click }) => click?.name ?? null },
  { title: "click id", cell: ({ click }) => click?.value ?? null },
  { title: "campaign", cell: ({ click }) => click?.campaign ?? null },
  { title: "network", cell: ({ seen }) => (seen as Observation).address },
  { title: "network operator", cell: ({ seen }) => networkName((seen as Observation).address) },
  { title: "user agent", cell: ({ seen }) => (seen as Observation).userAgent },
  { title: "landing page", cell: ({ page }) => page },
  { title: "score", cell: ({ verdict }) => verdict.score },
  { title: "reasons", cell: ({ verdict }) => verdict.reasons.join("; ") },
];

/** The points of a signal that decides alone. */
const hardPoints = 100;
const pointsOf = ({ points }: Pick<Signal, "points">) => (points === "hard" ? hardPoints : points);

export function trafficHandlers({ store, countryOf, now }: ApiContext): Handlers<Names> {
  return {
    async "GET /sites/:site/bots"({ site, query }) {
      const { cursor, limit, from, to } = query;
      checkTimes(from, to);
      const visits = await store.traffic.listBotVisits(site.id, limit + 1, readCursor(cursor)?.id, kindOf(query), { from, to });
      return pageOf(visits.map(toVisit), limit);
    },
    async "GET /sites/:site/bots.csv"({ site, query, reply }) {
      const kind = kindOf(query);
      setFileName(reply, kind === "bots" ? "bot-visits" : "suspicious-visits", site.hosts[0], now());
      return toCsvById(columns, listOf(site), async (limit, before) =>
        (await store.traffic.listBotVisits(site.id, limit, before, kind)).map(toVisit),
      );
    },
    async "GET /sites/:site/bots/:visit"({ site, params }) {
      const visit = await store.traffic.findBotVisit(site.id, params.visit);
      if (!visit) throw notFound("visit");
      const seen = visit.seen as Observation;
      await compileLists(site.id, site.settings);
      return { visit: toVisit(visit), now: toVerdict(seen, site.settings) };
    },
    async "GET /sites/:site/invalid-clicks"({ site, query }) {
      const next = Math.floor(now() / dayMs) + 1;
      const counts = await store.traffic.listClickCounts(site.id, next - query.days, next);
      const days = Array.from({ length: query.days }, (_, at) => next - query.days + at);
      return summarizeClicks(counts, days, query.costPerClick ?? null);
    },
    async "GET /sites/:site/invalid-clicks.csv"({ site, query, reply }) {
      setFileName(reply, "invalid-clicks", site.hosts[0], now());
      const from = (Math.floor(now() / dayMs) + 1 - query.days) * dayMs;
      return toCsvById(clickColumns, listOf(site), (limit, before) =>
        store.traffic.listBotVisits(site.id, limit, before, "clicks", { from }),
      );
    },
    async "GET /sites/:site/traffic/evidence"({ site, query }) {
      const next = Math.floor(now() / hourMs) + 1;
      const counts = await store.traffic.listEvidence(site.id, next - query.hours, next);
      const countOf = (bucket: EvidenceBucket, name: string) =>
        counts.find((one) => one.bucket === bucket && one.reason === name)?.visits ?? 0;
      const listed = [...modesOf(site.settings).of].map(([signal, mode]) => ({
        signal: nameOf(signal),
        why: signal.why,
        points: pointsOf(signal),
        mode,
        visits: countOf("evidence", nameOf(signal)),
        emails: countOf("evidence at emails", nameOf(signal)),
        conversions: countOf("evidence at conversions", nameOf(signal)),
      }));
      const [emails, conversions] = [countOf("evidence at emails", ""), countOf("evidence at conversions", "")];
      return { emails, conversions, signals: listed };
    },
    async "POST /sites/:site/traffic/check"({ site, body }) {
      const headers = body.headers && lowerCaseNames(body.headers);
      const userAgent = body.userAgent?.trim() || headers?.["user-agent"];
      const address = body.address?.trim() || undefined;
      if (userAgent === undefined && address === undefined && headers === undefined)
        throw new Refusal("userAgent", say("visit_needed"), "Describe the visit with --user-agent, --ip or --header.");
      if (address !== undefined && !ipaddr.isValid(address)) throw new Refusal("address", say("not_ip_address"));
      const described = { userAgent, address, headers: headers ? describeHeaders(headers) : null };
      const seen = observeDescription(described, countryOf ?? (() => null));
      await compileLists(site.id, site.settings);
      return toVerdict(seen, site.settings);
    },
  };
}

const maxCampaigns = 500;

function summarizeClicks(
  counts: readonly ClickCount[],
  days: readonly number[],
  costPerClick: number | null,
): Answer<"GET /sites/:site/invalid-clicks"> {
  const numbers = (some: readonly ClickCount[]) => {
    const sumOf = (bucket: ClickBucket) => some.reduce((sum, one) => sum + (one.bucket === bucket ? one.clicks : 0), 0);
    const invalid = sumOf("clicks of bots");
    const spend = costPerClick === null ? null : Math.round(invalid * costPerClick * 100) / 100;
    return { clicks: sumOf("clicks"), invalid, spend };
  };
  const byDay = (some: readonly ClickCount[]) => {
    const found = Map.groupBy(some, ({ day }) => day);
    return days.map((day) => ({ day: dayText(day), ...numbers(found.get(day) ?? []) }));
  };
  const campaigns = [...Map.groupBy(counts, ({ reason }) => reason)]
    .map(([reason, some]) => {
      const at = reason.indexOf(" ");
      return { clickId: reason.slice(0, at), campaign: reason.slice(at + 1), ...numbers(some), days: byDay(some) };
    })
    .toSorted((one, other) => other.invalid - one.invalid || other.clicks - one.clicks);
  return { ...numbers(counts), days: byDay(counts), campaigns: campaigns.slice(0, maxCampaigns) };
}

const kindOf = (query: { suspicious: "true" | "false" }) => (query.suspicious === "true" ? "suspicious" : "bots");

const dayText = (day: number) => new Date(day * dayMs).toISOString().slice(0, 10);

const lowerCaseNames = (headers: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

/** Headers that are not described count as normal; an empty one describes a missing header. */
function describeHeaders(headers: Record<string, string>) {
  const usual = {
    "accept-language": "en",
    "sec-fetch-site": "same-origin",
    "content-type": "text/plain;charset=UTF-8",
    accept: "*/*",
  };
  const described = { ...usual, ...headers };
  return readHeaders(described, headers["sec-ch-ua"] !== undefined);
}

function networkName(address: string): string | null {
  const network = findNetwork(address);
  return network && `${network.name} (${network.kind})`;
}

function toVisit({ id, seenAt, reason, page, verdict, seen }: BotVisit) {
  const { userAgent, address } = seen as Observation;
  // The strongest evidence against a suspicious visit.
  const strongest = reason.startsWith(suspicious) ? reason.slice(suspicious.length) : reason;
  const range = `${address}/${address.includes(":") ? 48 : 24}`;
  return { id, seenAt, reason: strongest, page, userAgent, network: networkName(address) ?? address, range, verdict };
}

function toVerdict(seen: Observation, rules: VisitRules): Answer<"POST /sites/:site/traffic/check"> {
  const { siteRule, signals, ...rest } = explainVerdict(seen, rules);
  return {
    ...rest,
    siteRule: siteRule && say(siteRule.decision === "allowed" ? "allowed_by" : "denied_by", { entry: siteRule.entry }),
    network: networkName(seen.address),
    signals: signals.map((signal) => ({
      ...signal,
      points: pointsOf(signal),
    })),
  };
}
