import ipaddr from "ipaddr.js";
import type { Answer } from "../contract/contract.ts";
import { visitBuckets, type VisitBucket } from "../kernel/event.ts";
import { given } from "../http/given.ts";
import { Missing, Refusal } from "../kernel/refusal.ts";
import { shownPercent } from "../kernel/text.ts";
import { hourMs } from "../kernel/time.ts";
import type { Site } from "../sites/directory.ts";
import { suspicious, type VisitCount } from "../store/statistics/traffic.ts";
import type { VisitRules } from "../traffic/lists.ts";
import {
  collectValues,
  findSiteOrOnly,
  readNumber,
  readPairs,
  siteName,
  table,
  timeText,
  type CommandContext,
  type CliCommand,
} from "./context.ts";
import {
  listPage,
  moreText,
  readPaging,
  readPeriod,
  selectSites,
  withPaging,
  withPeriod,
  type PagingOptions,
  type PeriodOptions,
} from "./lists.ts";

type BotsOptions = PagingOptions & PeriodOptions & { suspicious?: true };
type Clicks = { days: string; costPerClick?: string; csv?: true };
type Check = { userAgent?: string; ip?: string; header: string[] };
type Explained = Answer<"POST /sites/:site/traffic/check">;

export function trafficCommands(program: CliCommand): void {
  const traffic = program.command("traffic").description("bot detection: verdicts, samples and counts");

  traffic
    .command("check [site]")
    .description("show the verdict on a visit that you describe, signal by signal")
    .option("--user-agent <text>", "the User-Agent header")
    .option("--ip <address>", "the client address")
    .option("--header <name=value>", "a request header, such as sec-ch-ua-platform; may be repeated", collectValues, [])
    .run(async ({ directory, call, print }, siteText: string | undefined, options: Check) => {
      const { id, settings } = findSiteOrOnly(directory, siteText);
      const { userAgent, ip: address, header } = options;
      if (address !== undefined && !ipaddr.isValid(address)) throw new Refusal("ip", `--ip ${address} is not an address.`);
      const headers = header.length ? readPairs(header) : undefined;
      const body = given({ userAgent, address, headers });
      const explained = await call("POST /sites/:site/traffic/check", { params: { site: id }, body });
      print(explained, explanation(explained, settings).join("\n"));
    });

  withPaging(withPeriod(traffic.command("bots [site]"), "visits"), "visits")
    .description("list a sample of bot visits, newest first")
    .option("--suspicious", "visits that count as people's, with evidence against them")
    .run(async ({ directory, call, by, print }, siteText: string | undefined, options: BotsOptions) => {
      const filter = { ...readPeriod(options, by.now), suspicious: options.suspicious ? ("true" as const) : ("false" as const) };
      const { value, rows, next } = await listPage(
        selectSites(directory, siteText),
        readPaging(options),
        (params, paging) => call("GET /sites/:site/bots", { params, query: { ...filter, ...paging } }),
        ({ id }) => id,
      );
      const lines = rows.map(({ site, item: { verdict, ...visit } }) => [
        visit.id,
        siteName(site),
        timeText(visit.seenAt),
        String(verdict.score),
        verdict.reasons[0] ?? verdict.shadows?.[0] ?? visit.reason,
        visit.page,
      ]);
      const head = ["ID", "SITE", "SEEN (UTC)", "SCORE", "REASON", "PAGE"];
      const nothing = options.from || options.to ? "No matching bot visits." : "No bot visits in the last 14 days.";
      print(value, table(head, lines, nothing) + moreText({ next }));
    });

  traffic
    .command("clicks [site]")
    .description("count ad clicks of bots by campaign, or list them as CSV")
    .option("--days <n>", "number of days", "30")
    .option("--cost-per-click <amount>", "what you pay for a click")
    .option("--csv", "print one line for each click that is kept")
    .run(async ({ directory, call, print }, siteText: string | undefined, options: Clicks) => {
      const params = { site: findSiteOrOnly(directory, siteText).id };
      const days = readNumber("days", options.days, 60);
      if (options.csv) {
        const lines = (await call("GET /sites/:site/invalid-clicks.csv", { params, query: { days } })) as AsyncIterable<string>;
        for await (const some of lines) process.stdout.write(some);
        return;
      }
      const query = given({ days, costPerClick: options.costPerClick });
      const found = await call("GET /sites/:site/invalid-clicks", { params, query });
      const rows = found.campaigns.map((one) => [one.clickId, one.campaign || "–", ...clickCells(one)]);
      const head = ["CLICK ID", "CAMPAIGN", "CLICKS", "INVALID", "SHARE", ...(options.costPerClick ? ["SPEND"] : [])];
      const all = ["all", "", ...clickCells(found)];
      print(found, table(head, rows.length > 1 ? [...rows, all] : rows, "No clicks on advertisements in this period."));
    });

  traffic
    .command("evidence [site]")
    .description("list the signals with their modes, and how often each was seen")
    .option("--hours <n>", "number of hours", "336")
    .run(async ({ directory, call, print }, siteText: string | undefined, options: { hours: string }) => {
      const { id, hosts, settings } = findSiteOrOnly(directory, siteText);
      const hours = readNumber("hours", options.hours, 9600);
      const listed = await call("GET /sites/:site/traffic/evidence", { params: { site: id }, query: { hours } });
      const rows = listed.signals
        .toSorted((one, other) => other.visits + other.emails - one.visits - one.emails)
        .map(({ mode, signal, points, visits, emails, conversions, why }) =>
          [mode, signal, points, visits, emails, conversions, why].map(String),
        );
      const text = table(["MODE", "SIGNAL", "POINTS", "VISITS", "EMAILS", "CONVERSIONS", "WHY"], rows, "");
      const all = `Visitors submitted ${listed.emails} emails; ${listed.conversions} conversions are of people who visited.`;
      const safe = listed.signals.filter((one) => one.mode === "shadow" && one.visits > 0 && one.emails + one.conversions === 0);
      const names = safe.map(({ signal }) => signal.toLowerCase());
      // A new list replaces the old one.
      const kept = settings.evidence.filter((entry) => !names.includes(entry.slice(0, entry.lastIndexOf("="))));
      const chosen = [...kept, ...names.map((name) => `${name}=on`)].join(",");
      const hint =
        names.length > 0
          ? `\nTo switch on what was seen at none of them: cleancast site set ${hosts[0]} "evidence=${chosen}"`
          : "";
      print(listed, `${text}\n\n${all}${hint}`);
    });

  traffic
    .command("replay <visit>")
    .description("judge a bot visit again with the current rules, signal by signal")
    .run(async (context, id: string) => {
      const site = await findSiteOfVisit(context, id);
      const found = await context.call("GET /sites/:site/bots/:visit", { params: { site: site.id, visit: id } });
      const { visit, now } = found;
      const { bot, score, rules, reasons, shadows = [] } = visit.verdict;
      const then = `${timeText(visit.seenAt)} UTC  ${visit.page}\nthen: ${verdictText(bot, score)}, rules ${rules}: ${reasons.join("; ")}`;
      const inShadow = shadows.length ? [`in shadow: ${shadows.join("; ")}`] : [];
      context.print(found, [then, ...inShadow, "", ...explanation(now, site.settings), addressNote].join("\n"));
    });

  traffic
    .command("counts [site]")
    .description("count visits by hour and kind")
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
        String(row.suspicious),
      ];
      const rows = [...hours.map((row) => line(timeText(row.from), row)), line("all", all)];
      const head = ["HOUR (UTC)", "GROSS", ...visitBuckets.map((bucket) => bucket.toUpperCase()), "SUSPICIOUS PEOPLE"];
      const reasons = Object.entries(all.reasons).map(([reason, n]) => [String(n), reason]);
      const text = `${table(head, rows, "")}\n\n${table(["BOTS", "REASON"], reasons, "No bots.")}`;
      print({ hours, all }, counts.length ? text : "No visits in this period.");
    });
}

function clickCells({ clicks, invalid, spend }: Pick<Answer<"GET /sites/:site/invalid-clicks">, "clicks" | "invalid" | "spend">) {
  const share = clicks === 0 ? "–" : `${shownPercent(invalid, clicks)} %`;
  return [String(clicks), String(invalid), share, ...(spend === null ? [] : [spend.toFixed(2)])];
}

const addressNote = "Only the network is stored: rules for single addresses cannot be applied again.";

async function findSiteOfVisit({ store, directory }: CommandContext, id: string): Promise<Site> {
  for (const site of directory.sites()) if (await store.traffic.findBotVisit(site.id, id)) return site;
  throw new Missing("visit", `There is no sampled visit ${id}. 'cleancast traffic bots' lists them.`);
}

const verdictText = (bot: boolean, score: number) => `${bot ? "a bot" : "a person"}, score ${score}`;

function explanation(explained: Explained, rules: VisitRules): string[] {
  const { verdict, siteRule, network, country, notLookedAt, signals } = explained;
  const rows = signals
    .toSorted((one, other) => Number(other.fired) - Number(one.fired))
    .map(({ category, name, points, why, mode, fired, evidence }) => [
      fired ? (mode === "shadow" ? "shadow" : "yes") : "–",
      `${category}: ${name}`,
      String(points),
      fired ? [why, evidence].filter(Boolean).join(" ") : "",
    ]);
  return [
    `${verdictText(verdict.bot, verdict.score)} (bot threshold ${rules.botThreshold}, with two kinds of evidence or one that is certain)`,
    ...(siteRule ? [`site rule: ${siteRule}`] : []),
    ...(network ? [`network: ${network}`] : []),
    ...(country ? [`country: ${country}`] : []),
    "",
    table(["SEEN", "SIGNAL", "POINTS", "WHY"], rows, ""),
    ...(notLookedAt.length ? ["", `Not checked: ${notLookedAt.join(", ")}.`] : []),
  ];
}

/** The suspicious ones are a part of the people. */
function totals(counts: readonly VisitCount[]): Record<VisitBucket | "gross" | "suspicious", number> {
  const sum = { gross: 0, people: 0, bots: 0, "not a visit": 0, suppressed: 0, suspicious: 0 };
  for (const { bucket, reason, visits } of counts) {
    sum[bucket] += visits;
    sum.gross += visits;
    if (reason === suspicious) sum.suspicious += visits;
  }
  return sum;
}

function reasonsOf(counts: readonly VisitCount[]): Record<string, number> {
  const reasons: Record<string, number> = {};
  for (const { bucket, reason, visits } of counts) if (bucket === "bots") reasons[reason] = (reasons[reason] ?? 0) + visits;
  return Object.fromEntries(Object.entries(reasons).toSorted(([, one], [, other]) => other - one));
}
