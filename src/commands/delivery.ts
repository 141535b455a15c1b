import type { Answer, QueryIn } from "../contract/contract.ts";
import { describeConfirmation } from "../delivery/confirmations/describe.ts";
import { checkFilter } from "../delivery/replay.ts";
import { confirmationReasons, confirmationStates } from "../kernel/confirmation.ts";
import { deliveryStates } from "../kernel/event.ts";
import { given } from "../http/given.ts";
import { Conflict, Missing, Refusal } from "../kernel/refusal.ts";
import { countOf } from "../kernel/text.ts";
import type { Site } from "../sites/directory.ts";
import {
  findSiteOrOnly,
  readPersonOption,
  siteName,
  table,
  timeText,
  toPrintableLines,
  type CommandContext,
  type CliCommand,
} from "./context.ts";
import { confirm } from "./terminal/confirm.ts";
import { findEvent, readMode, readTrace } from "./event.ts";
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
  type Sites,
} from "./lists.ts";

type Tally = Answer<"POST /sites/:site/deliveries/replay">;
type Trace = Answer<"GET /sites/:site/events/:event">;
type Filter = Omit<QueryIn<"GET /sites/:site/deliveries.csv">, "from" | "to"> & { from?: number; to?: number };

export function deliveryCommands(program: CliCommand): void {
  const delivery = program.command("delivery").description("the sync log: deliveries and their outcomes");

  withPaging(withFilters(delivery.command("list [site]").description("list deliveries, newest first")), "lines")
    .option("--count", "only print the number of deliveries")
    .run(async (context, siteText: string | undefined, options: FilterOptions & PagingOptions & { count?: boolean }) => {
      const { directory, call, print } = context;
      const filter = await readFilter(context, siteText, options);
      const selected = await selectSitesOf(context, selectSites(directory, siteText), filter);
      if (options.count) {
        const counts = await Promise.all(
          selected.sites.map(({ id }) => call("GET /sites/:site/deliveries/count", { params: { site: id }, query: filter })),
        );
        const count = counts.reduce((sum, one) => sum + one.count, 0);
        return print({ count }, `${countOf(count, "delivery matches", "deliveries match")}.`);
      }
      const { value, rows, next } = await listPage(
        selected,
        readPaging(options),
        (params, paging) => call("GET /sites/:site/deliveries", { params, query: { ...filter, ...paging } }),
        ({ event, connection }) => `${event.id}/${connection}`,
      );
      const cells = rows.map(({ site, item: { event, ...line } }) => [
        timeText(event.receivedAt),
        siteName(site),
        event.name,
        event.orderId ?? "–",
        `${line.platform} ${line.connection}`,
        line.state,
        String(line.attempts),
        timeText(line.nextTryAt),
        line.reason ?? "–",
        describeConfirmation(line.confirmation),
        event.id,
      ]);
      print(value, table(head, cells, "No matching deliveries.") + moreText({ next }));
    });

  delivery
    .command("show <event>")
    .description("show each attempt of an event's deliveries: request and response")
    .option("--connection <id>", "only deliveries of this connection")
    .option("--site <site>", "search only this site")
    .run(async (context, id: string, { connection, site }: { connection?: string; site?: string }) => {
      const trace = await readTrace(context, id, site);
      const deliveries = trace.deliveries.filter((one) => connection === undefined || one.connection === connection);
      if (deliveries.length === 0)
        throw new Missing(
          connection ? "connection" : "event",
          `Event ${trace.id} has no delivery${connection ? ` to ${connection}` : ""}.`,
        );
      context.print({ deliveries }, deliveries.map((one) => toText(trace, one)).join("\n\n"));
    });

  changeCommand(delivery, "replay", "send rejected, expired, skipped or parked deliveries again");
  changeCommand(delivery, "cancel", "cancel queued or parked deliveries");
}

const head = [
  "RECEIVED (UTC)",
  "SITE",
  "EVENT",
  "ORDER",
  "CONNECTION",
  "STATE",
  "ATTEMPTS",
  "NEXT ATTEMPT",
  "REASON",
  "CONFIRMATION",
  "ID",
];

function changeCommand(delivery: CliCommand, name: "replay" | "cancel", description: string): void {
  withFilters(delivery.command(`${name} [site]`).description(description))
    .option("--dry-run", "only show what it would do")
    .option("--yes", "do it without asking")
    .run(async (context, siteText: string | undefined, options: FilterOptions & { dryRun?: true; yes?: true }) => {
      const site = findSiteOrOnly(context.directory, siteText);
      const filter = await readFilter(context, site.id, options);
      const change = async (dryRun: boolean) => {
        const body = { ...filter, dryRun };
        const tally = await context.call(`POST /sites/:site/deliveries/${name}`, { params: { site: site.id }, body });
        if (tally.changed === 0 && tally.found > 0)
          throw new Conflict("deliveries", `Nothing to ${name}: ${countsText(tally.leftAlone)}.`);
        return { tally, text: changedText(name, tally, dryRun) };
      };
      const { dryRun = false, yes } = options;
      if (!dryRun && !yes) {
        const { tally, text } = await change(true);
        if (tally.changed > 0) await confirm({ what: text, yes });
      }
      const { tally, text } = await change(dryRun);
      context.print(tally, text);
    });
}

const countsText = (counts: Record<string, number>) =>
  Object.entries(counts)
    .map(([reason, n]) => `${n} × ${reason}`)
    .join(", ");

function changedText(name: string, { found, changed, leftAlone, waiting }: Tally, dryRun: boolean): string {
  if (found === 0) return "No matching deliveries.";
  const what = name === "replay" ? "sent again" : "cancelled";
  const lines = [
    `${changed} of ${countOf(found, "delivery", "deliveries")} ${dryRun ? "would be" : changed === 1 ? "is" : "are"} ${what}.`,
  ];
  if (Object.keys(leftAlone).length) lines.push(`Not changed: ${countsText(leftAlone)}.`);
  if (name === "replay" && Object.keys(waiting).length)
    lines.push(`Waiting until the connection works again: ${countsText(waiting)}.`);
  return lines.join("\n");
}

function toText({ event, id, receivedAt }: Trace, delivery: Trace["deliveries"][number]): string {
  const next = delivery.nextTryAt === null ? "" : `, next attempt ${timeText(delivery.nextTryAt)} UTC`;
  const reason = delivery.reason ? `: ${delivery.reason}` : "";
  const lines = [
    `${event} ${id}, received ${timeText(receivedAt)} UTC`,
    `${delivery.platform} (${delivery.connection}): ${delivery.state}${reason}${next}`,
  ];
  if (delivery.confirmation) lines.push(`  confirmation: ${describeConfirmation(delivery.confirmation)}`);
  if (delivery.log.length === 0) lines.push("  no attempts yet");
  for (const attempt of delivery.log) {
    const response = attempt.httpStatus === null ? "no response" : `HTTP ${attempt.httpStatus}`;
    const batch = attempt.batch > 1 ? `, batch of ${attempt.batch}` : "";
    lines.push(
      `  attempt ${attempt.number}  ${timeText(attempt.startedAt)}  ${attempt.durationMs} ms  ${response}${batch}`,
      `    decided: ${attempt.state}${attempt.reason ? `: ${attempt.reason}` : ""}`,
      ...toPrintableLines(attempt.request).map((line) => `    > ${line}`),
      ...toPrintableLines(attempt.response ?? "").map((line) => `    < ${line}`),
    );
  }
  return lines.join("\n");
}

type FilterOptions = EventOptions & {
  connection?: string;
  platform?: string;
  state?: string;
  mode?: string;
  id?: string;
  order?: string;
  email?: string;
  confirmation?: string;
  confirmationReason?: string;
};

function withFilters(command: CliCommand): CliCommand {
  return withEventFilters(command)
    .option("--connection <id>", "only deliveries of this connection")
    .option("--platform <platform>", "only deliveries to this platform")
    .option("--state <states>", `only deliveries in these states, separated by commas: ${deliveryStates.join(", ")}`)
    .option("--mode <mode>", "only live or only test events")
    .option("--id <event>", "only this event")
    .option("--order <id>", "only events with this order id")
    .option("--email <email>", "only events of this person (an email address or its SHA-256)")
    .option("--confirmation <state>", `only deliveries of which the platform said later: ${confirmationStates.join(", ")}`)
    .option(
      "--confirmation-reason <reason>",
      `only deliveries that were not counted because of: ${confirmationReasons.join(", ")}`,
    );
}

/** An event or a connection in the filter is known to one site; the others would refuse it. */
async function selectSitesOf(context: CommandContext, { sites, isNamed }: Sites, filter: Filter): Promise<Sites> {
  const { eventId, connection: connectionId } = filter;
  if (isNamed || (eventId ?? connectionId) === undefined) return { sites, isNamed };
  if (eventId !== undefined) return { sites: [(await findEvent(context, eventId, undefined)).site], isNamed };
  const check = (some: readonly Site[]) =>
    checkFilter(
      context,
      some.map(({ id }) => id),
      given({ connectionId }),
    );
  await check(sites);
  const found: Site[] = [];
  for (const site of sites) {
    const refusal = await check([site]).catch((error: unknown) => error);
    if (refusal === undefined) found.push(site);
    else if (!(refusal instanceof Refusal)) throw refusal;
  }
  return { sites: found, isNamed };
}

/** Reads options as people type them into the query of the API. */
async function readFilter(context: CommandContext, siteText: string | undefined, options: FilterOptions): Promise<Filter> {
  const { connection, platform, state, mode, id, order, email } = options;
  return {
    unselected: "include",
    ...readEventFilters(options, context.by.now),
    ...given({
      connection,
      platform,
      state: state === undefined ? state : readStates(state),
      mode: readMode(mode),
      eventId: id === undefined ? id : (await findEvent(context, id, siteText)).id,
      orderId: order,
      email: readPersonOption(email),
      confirmation: readChoice("confirmation", options.confirmation, confirmationStates),
      confirmationReason: readChoice("confirmation-reason", options.confirmationReason, confirmationReasons),
    }),
  };
}

function readStates(text: string): string {
  const words = text.split(",").map((word) => word.trim().toLowerCase());
  const states = words.filter(Boolean);
  if (states.length === 0 || states.some((word) => !deliveryStates.some((state) => state === word)))
    throw new Refusal("state", `--state must be one or more of ${deliveryStates.join(", ")}.`);
  return states.join(",");
}

/** Spaces may be written as _ or -, which need no quotes. */
function readChoice<Choice extends string>(
  name: string,
  text: string | undefined,
  choices: readonly Choice[],
): Choice | undefined {
  if (text === undefined) return undefined;
  const word = text.trim().toLowerCase().replaceAll(/[_-]/g, " ");
  const found = choices.find((choice) => choice === word);
  if (!found) throw new Refusal(name, `--${name} must be one of ${choices.join(", ")}.`);
  return found;
}
