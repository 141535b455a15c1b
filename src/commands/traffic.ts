import ipaddr from "ipaddr.js";
import { readHeaders } from "../collect/observe.ts";
import { visitBuckets, type VisitBucket } from "../kernel/event.ts";
import { hourMs } from "../kernel/time.ts";
import { loadCountryFile } from "../installation/installation.ts";
import type { Site } from "../sites/directory.ts";
import { Missing, Refusal } from "../kernel/refusal.ts";
import { findSite } from "../sites/manage.ts";
import { withDefaults } from "../sites/settings.ts";
import type { BotVisit, VisitCount } from "../store/statistics/traffic.ts";
import { explainVerdict, listUnobserved, observeDescription } from "../traffic/explain.ts";
import type { VisitRules } from "../traffic/lists.ts";
import { findNetwork } from "../traffic/networks/networks.ts";
import type { Observation } from "../traffic/observation.ts";
import { signals } from "../traffic/signals.ts";
import { judge, type Judgement } from "../traffic/verdict.ts";
import {
  collectValues,
  findSiteOrOnly,
  readNumber,
  readPairs,
  table,
  timeText,
  type CommandContext,
  type CliCommand,
} from "./context.ts";

type Check = { userAgent?: string; ip?: string; header: string[] };

export function trafficCommands(program: CliCommand): void {
  const traffic = program.command("traffic").description("bot detection: verdicts, samples and counts");

  traffic
    .command("check [site]")
    .description("show the verdict on a visit that you describe, signal by signal")
    .option("--user-agent <text>", "the User-Agent header")
    .option("--ip <address>", "the client address")
    .option("--header <name=value>", "a request header, such as sec-ch-ua-platform; may be repeated", collectValues, [])
    .run(async (context, siteText: string | undefined, options: Check) => {
      const seen = readVisit(options, createCountryLookup(context));
      const site = siteText === undefined ? findOnlySite(context) : findSite(context, siteText);
      const rules = site?.settings ?? withDefaults({});
      const judgement = judge(seen, rules);
      context.print(explainVerdict(seen, judgement), explanation(seen, judgement, rules).join("\n"));
    });

  traffic
    .command("bots [site]")
    .description("list a sample of bot visits, newest first")
    .option("--limit <n>", "maximum number of visits", "20")
    .run(async ({ store, directory, print }, siteText: string | undefined, options: { limit: string }) => {
      const site = findSiteOrOnly(directory, siteText);
      const visits = await store.traffic.listBotVisits(site.id, readNumber("limit", options.limit, 1000));
      const rows = visits.map((visit) => [
        visit.id,
        timeText(visit.seenAt),
        String(visit.verdict.score),
        visit.verdict.reasons[0] ?? "",
        visit.page,
      ]);
      const head = ["ID", "SEEN (UTC)", "SCORE", "REASON", "PAGE"];
      print({ visits }, table(head, rows, "No bot visits in the last 14 days."));
    });

  traffic
    .command("replay <visit>")
    .description("judge a bot visit again with the current rules, signal by signal")
    .run(async (context, id: string) => {
      const { site, visit } = await findVisit(context, id);
      const seen = visit.seen as Observation;
      const judgement = judge(seen, site.settings);
      const { verdict } = visit;
      const then = `${timeText(visit.seenAt)} UTC  ${visit.page}\nthen: ${verdictText(verdict.bot, verdict.score)}, rules ${verdict.rules}: ${verdict.reasons.join("; ")}`;
      context.print(
        { visit, now: explainVerdict(seen, judgement) },
        [then, "", ...explanation(seen, judgement, site.settings), addressNote].join("\n"),
      );
    });

  traffic
    .command("counts [site]")
    .description("count visits by hour: people, bots, not a visit, suppressed by consent")
    .option("--hours <n>", "number of hours", "24")
    .run(async ({ store, directory, by, print }, siteText: string | undefined, options: { hours: string }) => {
      const site = findSiteOrOnly(directory, siteText);
      const next = Math.floor(by.now / hourMs) + 1;
      const counts = await store.traffic.listCounts(site.id, next - readNumber("hours", options.hours, 9600), next);
      const hours = [...Map.groupBy(counts, (count) => count.hour)].map(([hour, some]) => ({
        from: hour * hourMs,
        ...totals(some),
      }));
      const all = { ...totals(counts), reasons: reasonsOf(counts) };
      const line = (title: string, row: ReturnType<typeof totals>) => [
        title,
        String(row.gross),
        ...visitBuckets.map((bucket) => String(row[bucket])),
      ];
      const rows = [...hours.map((row) => line(timeText(row.from), row)), line("all", all)];
      const head = ["HOUR (UTC)", "GROSS", ...visitBuckets.map((bucket) => bucket.toUpperCase())];
      const reasons = Object.entries(all.reasons).map(([reason, n]) => [String(n), reason]);
      const text = `${table(head, rows, "")}\n\n${table(["BOTS", "REASON"], reasons, "No bots.")}`;
      print({ hours, all }, counts.length ? text : "No visits in this period.");
    });
}

const addressNote = "Only the network is stored: rules for single addresses cannot be applied again.";

const findOnlySite = ({ directory }: CommandContext): Site | undefined => {
  const [only, second] = [...directory.sites()];
  return second ? undefined : only;
};

function createCountryLookup({ config }: CommandContext): (address: string) => string | null {
  const countries = loadCountryFile(config);
  return (address) => countries?.countryOf(address) ?? null;
}

function readVisit({ userAgent, ip, header }: Check, country: (ip: string) => string | null): Observation {
  if (userAgent === undefined && ip === undefined && header.length === 0)
    throw new Refusal("user-agent", "Describe the visit with --user-agent, --ip or --header.");
  if (ip !== undefined && !ipaddr.isValid(ip)) throw new Refusal("ip", `--ip ${ip} is not an address.`);
  const headers = Object.fromEntries(Object.entries(readPairs(header)).map(([name, value]) => [name.toLowerCase(), value]));
  const described = {
    userAgent: userAgent ?? headers["user-agent"],
    address: ip,
    headers: header.length ? describedHeaders(headers) : null,
  };
  return observeDescription(described, country);
}

/** Headers that are not described count as normal; `--header accept-language=` describes a missing one. */
function describedHeaders(headers: Record<string, string>) {
  const described = { "accept-language": "en", "sec-fetch-site": "same-origin", ...headers };
  return readHeaders(described, headers["sec-ch-ua"] !== undefined);
}

async function findVisit({ store, directory }: CommandContext, id: string): Promise<{ site: Site; visit: BotVisit }> {
  for (const site of directory.sites()) {
    const visit = await store.traffic.findBotVisit(site.id, id);
    if (visit) return { site, visit };
  }
  throw new Missing("visit", `There is no sampled visit ${id}. 'cleancast traffic bots' lists them.`);
}

const verdictText = (bot: boolean, score: number) => `${bot ? "a bot" : "a person"}, score ${score}`;

function explanation(seen: Observation, judgement: Judgement, rules: VisitRules): string[] {
  const { verdict, findings, rule } = judgement;
  const network = findNetwork(seen.address);
  const fired = new Set(findings.map(({ signal }) => signal));
  const evidence = new Map(findings.map((finding) => [finding.signal, finding.evidence]));
  const rows = signals
    .toSorted((one, other) => Number(fired.has(other)) - Number(fired.has(one)))
    .map((signal) => [
      fired.has(signal) ? "yes" : "–",
      `${signal.category}: ${signal.name}`,
      String(signal.points),
      fired.has(signal) ? [signal.why, evidence.get(signal)].filter(Boolean).join(" ") : "",
    ]);
  const unchecked = listUnobserved(seen);
  return [
    `${verdictText(verdict.bot, verdict.score)} (bot threshold ${rules.botThreshold}, with two kinds of evidence or one that is certain)`,
    ...(rule ? [`site rule: ${rule.decision} by ${rule.entry}`] : []),
    ...(network ? [`network: ${network.name} (${network.kind})`] : []),
    ...(seen.country ? [`country: ${seen.country}`] : []),
    "",
    table(["SEEN", "SIGNAL", "POINTS", "WHY"], rows, ""),
    ...(unchecked.length ? ["", `Not checked: ${unchecked.join(", ")}.`] : []),
  ];
}

function totals(counts: readonly VisitCount[]): Record<VisitBucket | "gross", number> {
  const sum = { gross: 0, people: 0, bots: 0, "not a visit": 0, suppressed: 0 };
  for (const { bucket, visits } of counts) {
    sum[bucket] += visits;
    sum.gross += visits;
  }
  return sum;
}

function reasonsOf(counts: readonly VisitCount[]): Record<string, number> {
  const reasons: Record<string, number> = {};
  for (const { bucket, reason, visits } of counts) if (bucket === "bots") reasons[reason] = (reasons[reason] ?? 0) + visits;
  return Object.fromEntries(Object.entries(reasons).toSorted(([, one], [, other]) => other - one));
}
