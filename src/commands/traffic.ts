import type { Command } from "commander";
import ipaddr from "ipaddr.js";
import { readHeaders } from "../collect/observe.ts";
import { visitBuckets, type VisitBucket } from "../kernel/event.ts";
import { openCountryFile } from "../installation/installation.ts";
import type { Site } from "../sites/directory.ts";
import { Refusal } from "../kernel/refusal.ts";
import { findSite } from "../sites/manage.ts";
import { withDefaults } from "../sites/settings.ts";
import { hourMs, type BotVisit, type VisitCount } from "../store/statistics/traffic.ts";
import { describedVisit, explained, notLookedAt } from "../traffic/explain.ts";
import type { VisitRules } from "../traffic/lists.ts";
import { networkKind } from "../traffic/networks/networks.ts";
import type { Observation } from "../traffic/observation.ts";
import { signals } from "../traffic/signals.ts";
import { judge, type Judgement } from "../traffic/verdict.ts";
import { atDesk, pairsOf, print, siteOrOnly, table, timeText, type Desk } from "./context.ts";

type Check = { userAgent?: string; ip?: string; header: string[] };

export function trafficCommands(program: Command): void {
  const traffic = program.command("traffic").description("people and bots, and how they are told apart");

  traffic
    .command("check [site]")
    .description("the verdict on a visit that you describe, signal by signal")
    .option("--user-agent <text>", "what the browser calls itself")
    .option("--ip <address>", "where it comes from")
    .option(
      "--header <name=value>",
      "a request header, such as sec-ch-ua-platform; may be repeated",
      collect,
      [],
    )
    .action((siteText: string | undefined, options: Check, command: Command) =>
      atDesk(async (desk) => {
        const seen = readVisit(options, countryOf(desk));
        const site = siteText === undefined ? onlySite(desk) : findSite(desk, siteText);
        const rules = site?.settings ?? withDefaults({});
        const judgement = judge(seen, rules);
        print(command, explained(seen, judgement), explanation(seen, judgement, rules).join("\n"));
      }),
    );

  traffic
    .command("bots [site]")
    .description("a sample of the visits that were taken for bots', newest first")
    .option("--limit <n>", "how many", "20")
    .action((siteText: string | undefined, options: { limit: string }, command: Command) =>
      atDesk(async ({ store, directory }) => {
        const site = siteOrOnly(directory, siteText);
        const visits = await store.traffic.listBotVisits(site.id, whole("limit", options.limit, 1000));
        const rows = visits.map((visit) => [
          visit.id,
          timeText(visit.seenAt),
          String(visit.verdict.score),
          visit.verdict.reasons[0] ?? "",
          visit.page,
        ]);
        const head = ["ID", "SEEN (UTC)", "SCORE", "REASON", "PAGE"];
        print(command, { visits }, table(head, rows, "No bot has been seen in the last 14 days."));
      }),
    );

  traffic
    .command("replay <visit>")
    .description("judge a bot's visit again by today's rules, signal by signal")
    .action((id: string, _options: unknown, command: Command) =>
      atDesk(async (desk) => {
        const { site, visit } = await findVisit(desk, id);
        const seen = visit.seen as Observation;
        const judgement = judge(seen, site.settings);
        const { verdict } = visit;
        const then = `${timeText(visit.seenAt)} UTC  ${visit.page}\nthen: ${says(verdict.bot, verdict.score)}, rules ${verdict.rules}: ${verdict.reasons.join("; ")}`;
        print(
          command,
          { visit, now: explained(seen, judgement) },
          [then, "", ...explanation(seen, judgement, site.settings), addressNote].join("\n"),
        );
      }),
    );

  traffic
    .command("counts [site]")
    .description("visits by hour: people, bots, not a visit, suppressed by consent")
    .option("--hours <n>", "how many hours back", "24")
    .action((siteText: string | undefined, options: { hours: string }, command: Command) =>
      atDesk(async ({ store, directory, by }) => {
        const site = siteOrOnly(directory, siteText);
        const next = Math.floor(by.now / hourMs) + 1;
        const counts = await store.traffic.listCounts(
          site.id,
          next - whole("hours", options.hours, 9600),
          next,
        );
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
        print(command, { hours, all }, counts.length ? text : "No visit was reported in this time.");
      }),
    );
}

const addressNote = "Only the network was kept: rules about a single address cannot be repeated.";

const collect = (value: string, known: string[]) => [...known, value];

function whole(name: string, text: string, most: number): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 1 && value <= most) return value;
  throw new Refusal(name, `--${name} must be 1 to ${most}.`);
}

const onlySite = ({ directory }: Desk): Site | undefined => {
  const [only, second] = [...directory.sites()];
  return second ? undefined : only;
};

function countryOf({ config }: Desk): (address: string) => string | null {
  const countries = openCountryFile(config);
  return (address) => countries?.countryOf(address) ?? null;
}

function readVisit({ userAgent, ip, header }: Check, country: (ip: string) => string | null): Observation {
  if (userAgent === undefined && ip === undefined && header.length === 0)
    throw new Refusal("user-agent", "Describe the visit with --user-agent, --ip or --header.");
  if (ip !== undefined && !ipaddr.isValid(ip)) throw new Refusal("ip", `--ip ${ip} is not an address.`);
  const headers = Object.fromEntries(
    Object.entries(pairsOf(header)).map(([name, value]) => [name.toLowerCase(), value]),
  );
  const described = {
    userAgent: userAgent ?? headers["user-agent"],
    address: ip,
    headers: header.length ? describedHeaders(headers) : null,
  };
  return describedVisit(described, country);
}

/** What was not described is as it should be; `--header accept-language=` describes one that is missing. */
function describedHeaders(headers: Record<string, string>) {
  const described = { "accept-language": "en", "sec-fetch-site": "same-origin", ...headers };
  return readHeaders(described, headers["sec-ch-ua"] !== undefined);
}

async function findVisit({ store, directory }: Desk, id: string): Promise<{ site: Site; visit: BotVisit }> {
  for (const site of directory.sites()) {
    const visit = await store.traffic.findBotVisit(site.id, id);
    if (visit) return { site, visit };
  }
  throw new Refusal("visit", `There is no kept visit ${id}. 'cleancast traffic bots' shows those there are.`);
}

const says = (bot: boolean, score: number) => `${bot ? "a bot" : "a person"}, score ${score}`;

function explanation(seen: Observation, judgement: Judgement, rules: VisitRules): string[] {
  const { verdict, findings, listed } = judgement;
  const network = networkKind(seen.address);
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
  const unseen = notLookedAt(seen);
  return [
    `${says(verdict.bot, verdict.score)} (a bot from ${rules.botThreshold} on, with two kinds of evidence or a hard one)`,
    ...(listed ? [`site rule: ${listed.says} by ${listed.entry}`] : []),
    ...(network ? [`network: ${network.name} (${network.kind})`] : []),
    ...(seen.country ? [`country: ${seen.country}`] : []),
    "",
    table(["SEEN", "SIGNAL", "POINTS", "WHY"], rows, ""),
    ...(unseen.length ? ["", `Not looked at: ${unseen.join(", ")}.`] : []),
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
  for (const { bucket, reason, visits } of counts)
    if (bucket === "bots") reasons[reason] = (reasons[reason] ?? 0) + visits;
  return Object.fromEntries(Object.entries(reasons).toSorted(([, one], [, other]) => other - one));
}
