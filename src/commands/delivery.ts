import type { Command } from "commander";
import { checkFilter } from "../delivery/logFilter.ts";
import { cancel, replay, type Tally } from "../delivery/replay.ts";
import type { Site } from "../sites/directory.ts";
import { Refusal } from "../kernel/refusal.ts";
import { findSite } from "../sites/manage.ts";
import type { LogFilter, LogLine } from "../store/deliveries/syncLog.ts";
import { atDesk, print, siteOrOnly, table, timeText, type Desk } from "./context.ts";
import { findEvent } from "./event.ts";
import { isEverything, readCursor, readFilter, withFilters, type FilterOptions } from "./logFilter.ts";

export function deliveryCommands(program: Command): void {
  const delivery = program
    .command("delivery")
    .description("the sync log: what went where, and what became of it");

  withFilters(delivery.command("list [site]").description("deliveries, newest first"))
    .option("--before <cursor>", "go on after this line: EVENT/CONNECTION")
    .option("--limit <n>", "how many", "20")
    .option("--count", "only say how many there are")
    .action(
      (
        siteText: string | undefined,
        options: FilterOptions & { before?: string; limit: string; count?: boolean },
        command: Command,
      ) =>
        atDesk(async (desk) => {
          const { directory, store } = desk;
          const sites = siteText === undefined ? [...directory.sites()] : [findSite(desk, siteText)];
          const filter = await filterFor(desk, sites, options);
          if (options.count) {
            const counts = await Promise.all(sites.map((site) => store.syncLog.count(site.id, filter)));
            const count = counts.reduce((sum, n) => sum + n, 0);
            return print(command, { count }, `${count} deliveries match.`);
          }
          const limit = Number(options.limit);
          if (!Number.isInteger(limit) || limit < 1 || limit > 1000)
            throw new Refusal("limit", "--limit must be 1 to 1000.");
          const { lines, next } = await newest(desk, sites, filter, readCursor(options.before), limit);
          const rows = lines.map((line) => [
            timeText(line.receivedAt),
            directory.site(line.siteId)?.hosts[0] ?? line.siteId,
            line.event,
            line.orderId ?? "–",
            `${line.platform} ${line.connectionId}`,
            line.state,
            String(line.attempts),
            line.state === "queued" ? timeText(line.dueAt) : "–",
            line.reason ?? "–",
            line.eventId,
          ]);
          const head = [
            "RECEIVED (UTC)", "SITE", "EVENT", "ORDER", "CONNECTION", "STATE", "ATTEMPTS", "NEXT TRY", "REASON", "ID",
          ]; // prettier-ignore
          const more = next ? `\nOlder ones: --before ${next}` : "";
          const deliveries = lines.map((line) => describe(line));
          print(command, { deliveries, next }, `${table(head, rows, "No delivery matches.")}${more}`);
        }),
    );

  delivery
    .command("show <event>")
    .description(
      "every attempt of an event's deliveries: request, answer, how long it took, and what was decided",
    )
    .option("--connection <id>", "only of this connection")
    .option("--site <site>", "look in this site only")
    .action((id: string, options: { connection?: string; site?: string }, command: Command) =>
      atDesk(async (desk) => {
        const event = await findEvent(desk, id, options.site);
        const { connection: connectionId } = options;
        const filter = { eventId: event.id, ...(connectionId === undefined ? {} : { connectionId }) };
        const { lines } = await newest(desk, [findSite(desk, event.siteId)], filter, null, 1000);
        if (lines.length === 0)
          throw new Refusal(
            connectionId ? "connection" : "event",
            `Event ${event.id} has no delivery${connectionId ? ` to ${connectionId}` : ""}.`,
          );
        const attempts = await desk.store.deliveries.listAttempts(event.siteId, event.id);
        const deliveries = lines.map((line) => ({
          ...describe(line),
          log: attempts.filter((one) => one.connectionId === line.connectionId),
        }));
        print(command, { deliveries }, deliveries.map(shownDelivery).join("\n\n"));
      }),
    );

  changing(delivery, "replay", "send again what was rejected, expired, skipped or parked", replay);
  changing(delivery, "cancel", "stop what is queued or parked from being sent", cancel);
}

function changing(delivery: Command, name: string, description: string, work: typeof replay): void {
  withFilters(
    delivery
      .command(`${name} [site]`)
      .description(`${description}; without --yes only says what it would do`),
  )
    .option("--yes", "do it")
    .action((siteText: string | undefined, options: FilterOptions & { yes?: boolean }, command: Command) =>
      atDesk(async (desk) => {
        const site = siteOrOnly(desk.directory, siteText);
        const filter = await filterFor(desk, [site], options);
        if (isEverything(filter))
          throw new Refusal(
            "filter",
            "Say which: --connection, --platform, --state, --event, --order, --from …",
          );
        const dryRun = options.yes !== true;
        const tally = await work(desk, site, filter, { ...desk.by, dryRun });
        if (tally.changed === 0 && tally.found > 0)
          throw new Refusal("deliveries", `Nothing to ${name}: ${told(tally.leftAlone)}.`);
        print(command, { ...tally, done: !dryRun }, changedText(name, tally, dryRun));
      }),
    );
}

/** All that it names is found at these sites; an event also by the id that platforms received. */
async function filterFor(desk: Desk, sites: readonly Site[], options: FilterOptions): Promise<LogFilter> {
  const filter = readFilter(options, desk.by.now);
  const ids = sites.map(({ id }) => id);
  await checkFilter(desk, ids, filter);
  if (filter.eventId === undefined) return filter;
  const event = await findEvent(desk, filter.eventId, ids.length === 1 ? ids[0] : undefined);
  return { ...filter, eventId: event.id };
}

const told = (counts: Record<string, number>) =>
  Object.entries(counts)
    .map(([reason, n]) => `${n} × ${reason}`)
    .join(", ");

function changedText(name: string, { found, changed, leftAlone, waiting }: Tally, dryRun: boolean): string {
  if (found === 0) return "No delivery matches.";
  const what = name === "replay" ? "sent again, as soon as their connections have room" : "cancelled";
  const lines = [`${changed} of ${found} deliveries ${dryRun ? "would be" : "are"} ${what}.`];
  if (Object.keys(leftAlone).length) lines.push(`Left alone: ${told(leftAlone)}.`);
  if (name === "replay" && Object.keys(waiting).length)
    lines.push(`They wait until their connection works again: ${told(waiting)}.`);
  if (dryRun) lines.push("Nothing was changed. Add --yes to do it.");
  return lines.join("\n");
}

/** A page over one site or all of them: ids are in the order of time, over all sites too. */
async function newest(
  { store }: Desk,
  sites: readonly Site[],
  filter: LogFilter,
  before: { eventId: string; connectionId: string } | null,
  limit: number,
): Promise<{ lines: LogLine[]; next: string | null }> {
  const ofEach = await Promise.all(
    sites.map(async (site) => {
      const lines: LogLine[] = [];
      let at = before;
      // A page may be short where the filter leaves little.
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

function describe(line: LogLine) {
  const { siteId, eventId, connectionId, platform, state, reason, attempts, dueAt, event, orderId } = line;
  const { value, currency, mode, receivedAt, updatedAt } = line;
  return {
    eventId,
    connectionId,
    site: siteId,
    platform,
    state,
    reason,
    attempts,
    nextTryAt: state === "queued" ? dueAt : null,
    event,
    value,
    currency,
    orderId,
    mode,
    receivedAt,
    updatedAt,
  };
}

type Shown = ReturnType<typeof describe> & {
  log: Awaited<ReturnType<Desk["store"]["deliveries"]["listAttempts"]>>;
};

function shownDelivery(delivery: Shown): string {
  const next = delivery.nextTryAt === null ? "" : `, next try ${timeText(delivery.nextTryAt)} UTC`;
  const reason = delivery.reason ? `: ${delivery.reason}` : "";
  const lines = [
    `${delivery.event} ${delivery.eventId}, received ${timeText(delivery.receivedAt)} UTC`,
    `${delivery.platform} (${delivery.connectionId}): ${delivery.state}${reason}${next}`,
  ];
  if (delivery.log.length === 0) lines.push("  no attempt yet");
  for (const attempt of delivery.log) {
    const answer = attempt.httpStatus === null ? "no answer" : `HTTP ${attempt.httpStatus}`;
    const batch = attempt.batch > 1 ? `, one of ${attempt.batch} in the request` : "";
    lines.push(
      `  attempt ${attempt.number}  ${timeText(attempt.startedAt)}  ${attempt.durationMs} ms  ${answer}${batch}`,
      `    decided: ${attempt.state}${attempt.reason ? `: ${attempt.reason}` : ""}`,
      ...printable(attempt.request).map((line) => `    > ${line}`),
      ...printable(attempt.response ?? "").map((line) => `    < ${line}`),
    );
  }
  return lines.join("\n");
}

/** A stranger's words must not steer the terminal. */
function printable(text: string): string[] {
  return text === "" ? [] : text.split("\n").map((line) => line.replace(/[\p{Cc}\p{Cf}]/gu, "·"));
}
