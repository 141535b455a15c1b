import { describeConfirmation, toConfirmation, toConfirmationFilter } from "../delivery/confirmations/describe.ts";
import { listAttempts } from "../delivery/trace.ts";
import { cancel, checkFilter, replay, type Tally } from "../delivery/replay.ts";
import { readEmailSha256 } from "../identity/person.ts";
import { confirmationReasons, confirmationStates } from "../kernel/confirmation.ts";
import { deliveryStates, type DeliveryState, type Sha256 } from "../kernel/event.ts";
import { maskAddresses } from "../kernel/maskAddresses.ts";
import { Conflict, Missing, Refusal } from "../kernel/refusal.ts";
import { countOf } from "../kernel/text.ts";
import type { Site } from "../sites/directory.ts";
import { readVersion } from "../installation/installation.ts";
import { findSite } from "../sites/manage.ts";
import type { LogFilter, LogLine } from "../store/deliveries/syncLog/syncLog.ts";
import {
  findSiteOrOnly,
  findSites,
  readDuration,
  readNumber,
  table,
  timeText,
  toPrintableLines,
  type CommandContext,
  type CliCommand,
} from "./context.ts";
import { findEvent, readMode } from "./event.ts";
import { nextTryAt } from "../store/deliveries/readDeliveries.ts";

export function deliveryCommands(program: CliCommand): void {
  const delivery = program.command("delivery").description("the sync log: deliveries and their outcomes");

  withFilters(delivery.command("list [site]").description("list deliveries, newest first"))
    .option("--before <cursor>", "continue after this line: EVENT/CONNECTION")
    .option("--limit <n>", "maximum number of lines", "20")
    .option("--count", "only print the number of deliveries")
    .run(
      async (
        context,
        siteText: string | undefined,
        options: FilterOptions & { before?: string; limit: string; count?: boolean },
      ) => {
        const { directory, store } = context;
        const sites = findSites(directory, siteText);
        const filter = await readCheckedFilter(context, sites, options);
        if (options.count) {
          const counts = await Promise.all(sites.map((site) => store.syncLog.count(site.id, filter)));
          const count = counts.reduce((sum, n) => sum + n, 0);
          return context.print({ count }, `${countOf(count, "delivery matches", "deliveries match")}.`);
        }
        const limit = readNumber("limit", options.limit, 1000);
        const { lines, next } = await readPage(context, sites, filter, readCursor(options.before), limit);
        const rows = lines.map((line) => [
          timeText(line.receivedAt),
          directory.site(line.siteId)?.hosts[0] ?? line.siteId,
          line.event,
          line.orderId ?? "–",
          `${line.platform} ${line.connectionId}`,
          line.state,
          String(line.attempts),
          nextTryText(line),
          line.reason ?? "–",
          describeConfirmation(toConfirmation(line, line.confirmation)),
          line.eventId,
        ]);
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
        const more = next ? `\nNext page: --before ${next}` : "";
        const deliveries = lines.map((line) => toJson(line));
        context.print({ deliveries, next }, `${table(head, rows, "No matching deliveries.")}${more}`);
      },
    );

  delivery
    .command("show <event>")
    .description("show every delivery attempt of an event: request, response, duration and decision")
    .option("--connection <id>", "only deliveries of this connection")
    .option("--site <site>", "search only this site")
    .run(async (context, id: string, options: { connection?: string; site?: string }) => {
      const event = await findEvent(context, id, options.site);
      const { connection: connectionId } = options;
      const filter = { eventId: event.id, ...(connectionId === undefined ? {} : { connectionId }) };
      const { lines } = await readPage(context, [findSite(context, event.siteId)], filter, null, 1000);
      if (lines.length === 0)
        throw new Missing(
          connectionId ? "connection" : "event",
          `Event ${event.id} has no delivery${connectionId ? ` to ${connectionId}` : ""}.`,
        );
      const attempts = await listAttempts({ ...context, version: readVersion() }, event);
      const deliveries = lines.map((line) => ({
        ...toJson(line),
        log: attempts.filter((one) => one.connectionId === line.connectionId),
      }));
      context.print({ deliveries }, deliveries.map(toText).join("\n\n"));
    });

  changeCommand(delivery, "replay", "send rejected, expired, skipped or parked deliveries again", replay);
  changeCommand(delivery, "cancel", "cancel queued or parked deliveries", cancel);
}

function changeCommand(delivery: CliCommand, name: string, description: string, work: typeof replay): void {
  withFilters(delivery.command(`${name} [site]`).description(`${description}; without --yes it only shows what it would do`))
    .option("--yes", "do it")
    .run(async (context, siteText: string | undefined, options: FilterOptions & { yes?: boolean }) => {
      const site = findSiteOrOnly(context.directory, siteText);
      const filter = await readCheckedFilter(context, [site], options);
      if (isUnfiltered(filter))
        throw new Refusal("filter", "Select deliveries with --connection, --platform, --state, --event, --order, --from …");
      const dryRun = options.yes !== true;
      const tally = await work(context, site, filter, { ...context.by, dryRun });
      if (tally.changed === 0 && tally.found > 0)
        throw new Conflict("deliveries", `Nothing to ${name}: ${countsText(tally.leftAlone)}.`);
      context.print({ ...tally, done: !dryRun }, changedText(name, tally, dryRun));
    });
}

/** Checks that these sites have what the filter names. An event is also found by its platform event id. */
async function readCheckedFilter(context: CommandContext, sites: readonly Site[], options: FilterOptions): Promise<LogFilter> {
  const filter = readFilter(options, context.by.now);
  const ids = sites.map(({ id }) => id);
  await checkFilter(context, ids, filter);
  if (filter.eventId === undefined) return filter;
  const event = await findEvent(context, filter.eventId, ids.length === 1 ? ids[0] : undefined);
  return { ...filter, eventId: event.id };
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
  if (dryRun) lines.push("Nothing was changed. Add --yes to do it.");
  return lines.join("\n");
}

/** Reads a page over one or all sites, newest first: ids are in the order of time across sites. */
async function readPage(
  { store }: CommandContext,
  sites: readonly Site[],
  filter: LogFilter,
  before: { eventId: string; connectionId: string } | null,
  limit: number,
): Promise<{ lines: LogLine[]; next: string | null }> {
  const ofEach = await Promise.all(
    sites.map(async (site) => {
      const lines: LogLine[] = [];
      let at = before;
      // A page of the store may be short where the filter matches little.
      do {
        const page = await store.syncLog.listPage(site.id, filter, { before: at, limit: limit + 1 });
        lines.push(...page.lines);
        at = page.next;
      } while (at && lines.length <= limit);
      return lines;
    }),
  );
  const all = ofEach.flat();
  if (sites.length > 1) all.sort((one, other) => (keyOf(one) < keyOf(other) ? 1 : -1));
  const lines = all.slice(0, limit);
  const last = lines.at(-1);
  return { lines, next: all.length > limit && last ? keyOf(last) : null };
}

const keyOf = ({ eventId, connectionId }: LogLine) => `${eventId}/${connectionId}`;

function toJson(line: LogLine) {
  const { siteId, eventId, connectionId, platform, state, reason, attempts, event, orderId } = line;
  const { value, currency, mode, receivedAt, updatedAt } = line;
  return {
    eventId,
    connectionId,
    site: siteId,
    platform,
    state,
    reason,
    attempts,
    nextTryAt: nextTryAt(line),
    event,
    value,
    currency,
    orderId,
    mode,
    receivedAt,
    updatedAt,
    confirmation: toConfirmation(line, line.confirmation),
  };
}

type ShownDelivery = ReturnType<typeof toJson> & {
  log: Awaited<ReturnType<typeof listAttempts>>;
};

function toText(delivery: ShownDelivery): string {
  const next = delivery.nextTryAt === null ? "" : `, next attempt ${timeText(delivery.nextTryAt)} UTC`;
  const reason = delivery.reason ? `: ${delivery.reason}` : "";
  const lines = [
    `${delivery.event} ${delivery.eventId}, received ${timeText(delivery.receivedAt)} UTC`,
    `${delivery.platform} (${delivery.connectionId}): ${delivery.state}${reason}${next}`,
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

type FilterOptions = {
  connection?: string;
  platform?: string;
  state?: string;
  event?: string;
  mode?: string;
  id?: string;
  order?: string;
  email?: string;
  from?: string;
  to?: string;
  confirmation?: string;
  confirmationReason?: string;
};

function withFilters(command: CliCommand): CliCommand {
  return command
    .option("--connection <id>", "only deliveries of this connection")
    .option("--platform <platform>", "only deliveries to this platform")
    .option("--state <states>", `only deliveries in these states, separated by commas: ${deliveryStates.join(", ")}`)
    .option("--event <name>", "only events with this name")
    .option("--mode <mode>", "only live or only test events")
    .option("--id <event>", "only this event")
    .option("--order <id>", "only events with this order id")
    .option("--email <email>", "only events of this person (an email address or its SHA-256)")
    .option("--from <time>", "only events received since: 2026-11-15, 2026-11-15T08:00Z, or 2h, 7d ago")
    .option("--to <time>", "only events received before")
    .option("--confirmation <state>", `only deliveries of which the platform said later: ${confirmationStates.join(", ")}`)
    .option(
      "--confirmation-reason <reason>",
      `only deliveries that were not counted because of: ${confirmationReasons.join(", ")}`,
    );
}

/** The mode alone does not narrow the set: nearly all events are live. */
const isUnfiltered = (filter: LogFilter) => Object.keys(filter).every((name) => name === "mode");

function readFilter(options: FilterOptions, now: number): LogFilter {
  const { connection, platform, state, event, mode, id, order, email, from, to } = options;
  const filter: LogFilter = {
    ...(connection === undefined ? {} : { connectionId: connection }),
    ...(platform === undefined ? {} : { platform }),
    ...(state === undefined ? {} : { states: readStates(state) }),
    ...(event === undefined ? {} : { eventName: maskAddresses(event) }),
    ...(mode === undefined ? {} : { mode: readMode(mode) }),
    ...(id === undefined ? {} : { eventId: id }),
    ...(order === undefined ? {} : { orderId: maskAddresses(order) }),
    ...(email === undefined ? {} : { emailSha256: readPerson(email) }),
    ...(from === undefined ? {} : { from: readTime("from", from, now) }),
    ...(to === undefined ? {} : { to: readTime("to", to, now) }),
    ...toConfirmationFilter(
      readChoice("confirmation", options.confirmation, confirmationStates),
      readChoice("confirmation-reason", options.confirmationReason, confirmationReasons),
    ),
  };
  if (filter.from !== undefined && filter.to !== undefined && filter.from >= filter.to)
    throw new Refusal("from", "--from must be before --to.");
  return filter;
}

function readStates(text: string): DeliveryState[] {
  const words = [...new Set(text.split(",").map((word) => word.trim().toLowerCase()))].filter(Boolean);
  const states = deliveryStates.filter((state) => words.includes(state));
  if (words.length === 0 || states.length < words.length)
    throw new Refusal("state", `--state must be one or more of ${deliveryStates.join(", ")}.`);
  return states;
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

function readPerson(text: string): Sha256 {
  const emailSha256 = readEmailSha256(text);
  if (!emailSha256) throw new Refusal("email", "--email is not an email address.");
  return emailSha256;
}

function readTime(name: string, text: string, now: number): number {
  const ago = readDuration(text);
  const at = ago === null ? Date.parse(text) : now - ago;
  if (Number.isNaN(at) || at < 0)
    throw new Refusal(name, `--${name} must be a time like 2026-11-15, 2026-11-15T08:00Z, 2h or 7d.`);
  return at;
}

function nextTryText(line: LogLine): string {
  const at = nextTryAt(line);
  return at === null ? "–" : timeText(at);
}

const cursorForm = /^([0-9a-z]{26})(?:\/([0-9a-z]{1,40}))?$/;

/** Reads EVENT/CONNECTION. After an event id alone the list continues with older events. */
function readCursor(text: string | undefined): { eventId: string; connectionId: string } | null {
  if (text === undefined) return null;
  const [, eventId, connectionId = ""] = cursorForm.exec(text) ?? [];
  if (eventId === undefined)
    throw new Refusal("before", "--before must be an event's id, or EVENT/CONNECTION as the list prints it.");
  return { eventId, connectionId };
}
