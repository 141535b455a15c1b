import type { Answer } from "../contract/contract.ts";
import { describeConfirmation } from "../delivery/confirmations/describe.ts";
import { describeCorrection } from "../delivery/corrections/describe.ts";
import { findEventById } from "../delivery/trace/trace.ts";
import { describeFilterReason, type Mode } from "../kernel/event.ts";
import { given } from "../http/given.ts";
import { Missing, Refusal } from "../kernel/refusal.ts";
import { countOf } from "../kernel/text.ts";
import { dayMs, hourMs, minuteMs } from "../kernel/time.ts";
import type { Site } from "../sites/directory.ts";
import {
  findSiteOrOnly,
  findSites,
  readPersonOption,
  siteName,
  table,
  timeText,
  toPrintableLines,
  type CommandContext,
  type CliCommand,
} from "./context.ts";
import {
  listPage,
  moreText,
  readEventFilters,
  readPaging,
  selectSites,
  withEventFilters,
  withPaging,
  type EventOptions,
  type PagingOptions,
} from "./lists.ts";

type ListOptions = PagingOptions & EventOptions & { email?: string; order?: string; filtered?: boolean; mode?: string };
type Trace = Answer<"GET /sites/:site/events/:event">;

export function eventCommands(program: CliCommand): void {
  const event = program.command("event").description("received events and their outcomes");

  withPaging(withEventFilters(event.command("list [site]")), "events")
    .description("list events, newest first")
    .option("--email <email>", "only events of this person")
    .option("--order <id>", "only events with this order id")
    .option("--filtered", "only filtered events")
    .option("--mode <mode>", "only live or only test events")
    .run(async ({ directory, call, by, print }, siteText: string | undefined, options: ListOptions) => {
      const filter = given({
        ...readEventFilters(options, by.now),
        email: readPersonOption(options.email),
        orderId: options.order,
        status: options.filtered ? ("filtered" as const) : undefined,
        mode: readMode(options.mode),
      });
      const { value, rows, next } = await listPage(
        selectSites(directory, siteText),
        readPaging(options),
        (params, paging) => call("GET /sites/:site/events", { params, query: { ...filter, ...paging } }),
        ({ id }) => id,
      );
      const cells = rows.map(({ site, item: one }) => [
        one.id,
        siteName(site),
        timeText(one.receivedAt),
        one.event,
        one.value === null ? "–" : `${one.value} ${one.currency}`,
        one.orderId ?? "–",
        one.status,
        one.deliveries.map((delivery) => `${delivery.platform} ${delivery.state}`).join(", ") || "–",
      ]);
      const head = ["ID", "SITE", "RECEIVED (UTC)", "EVENT", "VALUE", "ORDER", "STATUS", "DELIVERIES"];
      print(value, table(head, cells, "No matching events.") + moreText({ next }));
    });

  event
    .command("stages [site]")
    .description("show how many leads reached each stage, and how fast, by source")
    .option("--stages <names>", "event names from the first stage to the last, separated by commas")
    .option("--days <days>", "stages that were received in these days", "30")
    .run(async ({ directory, call, print }, siteText: string | undefined, options: { stages?: string; days: string }) => {
      const { id } = findSiteOrOnly(directory, siteText);
      const query = given({ stages: options.stages, days: options.days });
      const ladder = await call("GET /sites/:site/lead-stages", { params: { site: id }, query });
      print(ladder, ladderText(ladder));
    });

  event
    .command("sources [site]")
    .description("show conversions and their value by source or campaign")
    .option("--by <kind>", "source or campaign", "source")
    .option("--model <model>", "last, first or linear: which visits get a conversion", "last")
    .option("--days <days>", "days in UTC, up to today", "30")
    .run(async ({ directory, call, print, by }, siteText: string | undefined, options: SourcesOptions) => {
      const { id } = findSiteOrOnly(directory, siteText);
      if (options.by !== "source" && options.by !== "campaign") throw new Refusal("by", "--by must be source or campaign.");
      if (!/^[1-9]\d{0,2}$/.test(options.days)) throw new Refusal("days", "--days must be a whole number from 1 to 999.");
      // Up to the end of today, so that the answer changes only with its numbers.
      const to = Math.ceil(by.now / dayMs) * dayMs;
      const query = { from: to - Number(options.days) * dayMs, to, model: options.model as "last" };
      const statistics = await call("GET /sites/:site/statistics", { params: { site: id }, query });
      const { sources, campaigns } = statistics;
      print(statistics, sourcesText(options.by, options.by === "source" ? sources : campaigns));
    });

  event
    .command("show <id>")
    .description("show the full trace of one event, by its id or its platform event id")
    .option("--site <site>", "search only this site")
    .run(async (context, id: string, options: { site?: string }) => {
      const trace = await readTrace(context, id, options.site);
      context.print(trace, traceText(trace));
    });

  event
    .command("release <id>")
    .description("deliver a filtered event, and never filter this person again")
    .option("--site <site>", "search only this site")
    .run(async (context, named: string, options: { site?: string }) => {
      const { site, id } = await findEvent(context, named, options.site);
      const released = await context.call("POST /sites/:site/events/:event/release", { params: { site: site.id, event: id } });
      context.print(
        released,
        `Event ${id} is released: ${countOf(released.deliveries, "delivery is", "deliveries are")} being sent, and events of this person are no longer filtered.`,
      );
    });

  program
    .command("why <order>")
    .description("explain what happened to an order at each platform")
    .option("--platform <platform>", "only the answer for this platform")
    .option("--site <site>", "search only this site")
    .run(async ({ directory, call, print }, id: string, options: { platform?: string; site?: string }) => {
      const query = { id, ...given({ platform: options.platform }) };
      const answers: (Answer<"GET /sites/:site/why"> & { site: Site })[] = [];
      for (const site of findSites(directory, options.site))
        answers.push({ site, ...(await call("GET /sites/:site/why", { params: { site: site.id }, query })) });
      const received = answers.filter((one) => one.answers.some((answer) => answer.event !== null));
      const [why, other] = received.length ? received : answers;
      if (!why || other) {
        const sites = received.length ? `Several sites have received ${id}` : `No site has received ${id}`;
        throw new Refusal("site", `${sites}. Name the one you mean with --site: 'cleancast site list' shows them.`);
      }
      print({ answers: why.answers }, why.answers.map(whyText).join("\n\n"));
    });
}

type Why = Answer<"GET /sites/:site/why">["answers"][number];

const whyText = ({ answer, evidence, actions }: Why) =>
  [answer, ...evidence.map((line) => `  ${line}`), ...actions.map((line) => `  → ${line}`)].flatMap(toPrintableLines).join("\n");

/** Finds the site that has an event, and the event's own id. */
export async function findEvent(
  { store, directory }: CommandContext,
  id: string,
  siteText: string | undefined,
): Promise<{ site: Site; id: string }> {
  for (const site of findSites(directory, siteText)) {
    const event = await findEventById(store, site.id, id);
    if (event) return { site, id: event.id };
  }
  throw new Missing("event", `There is no event ${id}.`);
}

export async function readTrace(context: CommandContext, named: string, siteText: string | undefined): Promise<Trace> {
  const { site, id } = await findEvent(context, named, siteText);
  return context.call("GET /sites/:site/events/:event", { params: { site: site.id, event: id } });
}

export function readMode(text: string | undefined): Mode | undefined {
  if (text !== undefined && text !== "live" && text !== "test") throw new Refusal("mode", "--mode must be live or test.");
  return text;
}

type SourcesOptions = { by: string; model: string; days: string };

function sourcesText(by: string, items: Answer<"GET /sites/:site/statistics">["sources"]): string {
  const rows = items.map(({ name, conversions, values }) => [
    toPrintableLines(name).join(" "),
    String(Math.round(conversions * 100) / 100),
    values.map(({ value, currency }) => `${value} ${currency}`).join(", "),
  ]);
  return table([by.toUpperCase(), "CONVERSIONS", "VALUE"], rows, "No conversions.");
}

function ladderText({ stages, days, sources, back, isComplete }: Answer<"GET /sites/:site/lead-stages">): string {
  const rows = sources.map(({ source, steps, wentBack }) => [
    source,
    ...steps.map(({ leads, medianMs }) => `${leads}${medianMs === null ? "" : ` (${spanText(medianMs)})`}`),
    String(wentBack),
  ]);
  const head = ["SOURCE", ...stages.map((stage) => stage.toUpperCase()), "WENT BACK"];
  return [
    `Leads of the last ${days} days, with the median time from the stage before.${isComplete ? "" : " There are more: only the newest are counted."}`,
    table(head, rows, "No stages were received."),
    ...back.map(({ eventId, stage, from, time }) => `went back from ${from} to ${stage}  ${timeText(time)} UTC  ${eventId}`),
  ].join("\n");
}

/** Days from two on, otherwise hours. */
function spanText(ms: number): string {
  if (ms >= 2 * dayMs) return `${(ms / dayMs).toFixed(1)} d`;
  return ms >= hourMs ? `${(ms / hourMs).toFixed(1)} h` : `${Math.round(ms / minuteMs)} min`;
}

function itemText(item: Trace["items"][number], currency: string): string {
  const texts = [item.name, item.category, item.brand].filter((text) => text !== null);
  const price = item.price === null ? [] : [`${item.price} ${currency}`];
  return toPrintableLines([`${item.quantity} × ${item.id}`, ...price, ...texts].join(", ")).join(" ");
}

function visitText({ at, source, campaign, clickId, hasForm }: Trace["attribution"]["path"][number], eventAt: number): string {
  const from = source === null ? "visit" : `${clickId === null ? "visit" : "ad click"} from ${source}`;
  const texts = [from, ...(campaign === null ? [] : [`campaign ${campaign}`]), ...(hasForm ? ["form"] : [])];
  return toPrintableLines(`${timeText(at)} UTC  ${texts.join(", ")}, ${spanText(eventAt - at)} before`).join(" ");
}

function traceText(trace: Trace): string {
  const { attribution } = trace;
  const clickIds = Object.entries(attribution.clickIds).map(
    ([name, id]) => `${name}=${id.value} (clicked ${timeText(id.seenAt)})`,
  );
  const consent = attribution.withheld
    ? `${attribution.consent}: identifiers withheld (${attribution.withheld})`
    : attribution.consent;
  const lines = [
    `${trace.event}  ${trace.value === null ? "" : `${trace.value} ${trace.currency}`}  ${trace.mode}`.trimEnd(),
    `  id          ${trace.id}`,
    `  sent as     ${trace.platformEventId} (platform event id)`,
    `  received    ${timeText(trace.receivedAt)} UTC with key ${trace.key.name ?? trace.key.id}`,
    `  order       ${trace.orderId ?? "–"}`,
    ...(trace.leadId ? [`  lead        ${trace.leadId}`] : []),
    ...trace.items.map((item, at) => `  ${at === 0 ? "items" : "     "}       ${itemText(item, trace.currency)}`),
    `  person      ${trace.emailSha256}`,
    `  status      ${trace.status}${trace.filterReasons.length ? `: ${trace.filterReasons.map(describeFilterReason).join("; ")}` : ""}${trace.releasedAt ? `, released ${timeText(trace.releasedAt)} UTC` : ""}`,
    ...trace.filterSignals.map(({ why }) => `  why         ${why}`),
    `  identity    ${attribution.identity}${clickIds.length ? `: ${clickIds.join(", ")}` : ""}`,
    ...attribution.path.map((visit, at) => `  ${at === 0 ? "path" : "    "}        ${visitText(visit, trace.time)}`),
    `  consent     ${consent}`,
    ...trace.warnings.map((warning) => `  warning     ${warning}`),
  ];
  for (const delivery of trace.deliveries) {
    const next = delivery.nextTryAt === null ? "" : `, next attempt ${timeText(delivery.nextTryAt)} UTC`;
    lines.push(
      "",
      `  ${delivery.platform} (${delivery.connection}): ${delivery.state}${delivery.reason ? `: ${delivery.reason}` : ""}${next}`,
    );
    if (delivery.confirmation) lines.push(`    confirmation: ${describeConfirmation(delivery.confirmation)}`);
    if (delivery.sentAs) lines.push(`    value: ${delivery.sentAs}`);
    if (delivery.correction) lines.push(`    correction: ${describeCorrection(delivery.correction)}`);
    for (const attempt of delivery.log) {
      const response = [attempt.httpStatus === null ? null : `HTTP ${attempt.httpStatus}`, attempt.reason];
      const said = response.filter((one) => one !== null).join(": ");
      lines.push(`    attempt ${attempt.number}  ${timeText(attempt.startedAt)}  ${attempt.durationMs} ms  ${said}`);
      lines.push(...toPrintableLines(attempt.request).map((line) => `      > ${line}`));
      lines.push(...toPrintableLines(attempt.response ?? "").map((line) => `      < ${line}`));
    }
  }
  return lines.join("\n");
}
