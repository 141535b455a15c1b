import type { Command } from "commander";
import { releaseEvent } from "../delivery/release.ts";
import { eventBy, traceOf, type Trace } from "../delivery/trace.ts";
import { looksLikeEmail } from "../identity/email.ts";
import { hashEmail } from "../identity/person.ts";
import { Refusal } from "../kernel/refusal.ts";
import { findSite } from "../sites/manage.ts";
import { toSummary, type StoredEvent } from "../store/events/eventRow.ts";
import { atDesk, print, table, timeText, type Desk } from "./context.ts";
import { readMode } from "./logFilter.ts";

export function eventCommands(program: Command): void {
  const event = program.command("event").description("events and what became of them");

  event
    .command("list [site]")
    .description("the newest events")
    .option("--email <email>", "only of this person")
    .option("--order <id>", "only with this order id")
    .option("--filtered", "only filtered ones")
    .option("--mode <mode>", "only live or only test events")
    .option("--before <id>", "only older ones than this event")
    .option("--limit <n>", "how many", "20")
    .action(
      (
        siteText: string | undefined,
        options: {
          email?: string;
          order?: string;
          filtered?: boolean;
          mode?: string;
          before?: string;
          limit: string;
        },
        command: Command,
      ) =>
        atDesk(async ({ store, directory }) => {
          const sites = siteText === undefined ? [...directory.sites()] : [findSite({ directory }, siteText)];
          const limit = Number(options.limit);
          if (!Number.isInteger(limit) || limit < 1 || limit > 1000)
            throw new Refusal("limit", "--limit must be 1 to 1000.");
          if (options.email !== undefined && !looksLikeEmail(options.email)) {
            throw new Refusal("email", "--email is not an email address.");
          }
          const filter = {
            ...(options.email === undefined ? {} : { emailSha256: hashEmail(options.email) }),
            ...(options.order === undefined ? {} : { orderId: options.order }),
            ...(options.filtered ? { status: "filtered" as const } : {}),
            ...(options.mode === undefined ? {} : { mode: readMode(options.mode) }),
            ...(options.before === undefined ? {} : { before: options.before }),
            limit,
          };
          const ofEach = await Promise.all(sites.map((site) => store.events.list(site.id, filter)));
          // Ids are in the order of time, over all sites too.
          const found = ofEach
            .flat()
            .toSorted((one, other) => (one.id < other.id ? 1 : -1))
            .slice(0, limit);
          const events = await Promise.all(
            found.map(async (one) => ({
              ...listed(one),
              deliveries: await states(store, one),
            })),
          );
          const hostOf = (id: string) => directory.site(id)?.hosts[0] ?? id;
          const rows = events.map((one) => [
            one.id,
            hostOf(one.site),
            timeText(one.receivedAt),
            one.event,
            one.value === null ? "–" : `${one.value} ${one.currency}`,
            one.orderId ?? "–",
            one.status,
            one.deliveries.map((delivery) => `${delivery.platform} ${delivery.state}`).join(", ") || "–",
          ]);
          const head = ["ID", "SITE", "RECEIVED (UTC)", "EVENT", "VALUE", "ORDER", "STATUS", "DELIVERIES"];
          print(command, { events }, table(head, rows, "No event matches."));
        }),
    );

  event
    .command("show <id>")
    .description("the whole trace of one event, by our id or by the event id that platforms received")
    .option("--site <site>", "look in this site only")
    .action((id: string, options: { site?: string }, command: Command) =>
      atDesk(async (desk) => {
        const trace = await traceOf(desk, await findEvent(desk, id, options.site));
        const { identity: _identity, withheld: _withheld, clickIds: _clickIds, ...shown } = trace;
        print(command, shown, traceText(trace));
      }),
    );

  event
    .command("release <id>")
    .description('"not a bot": deliver a filtered event, and never filter its person again')
    .option("--site <site>", "look in this site only")
    .action((id: string, options: { site?: string }, command: Command) =>
      atDesk(async (desk) => {
        const found = await findEvent(desk, id, options.site);
        const site = findSite(desk, found.siteId);
        const deliveries = await releaseEvent(desk, site, found, desk.by);
        print(
          command,
          { event: { id: found.id, released: true, deliveries } },
          `Event ${found.id} is released: ${deliveries} deliveries are on their way, and its person is not filtered any more.`,
        );
      }),
    );
}

export async function findEvent(
  { store, directory }: Desk,
  id: string,
  siteText: string | undefined,
): Promise<StoredEvent> {
  const sites = siteText === undefined ? [...directory.sites()] : [findSite({ directory }, siteText)];
  for (const site of sites) {
    const event = await eventBy(store, site.id, id);
    if (event) return event;
  }
  throw new Refusal("event", `There is no event ${id}.`);
}

/** `event show` has the rest. */
function listed(event: StoredEvent) {
  const {
    filterReasons: _reasons,
    releasedAt: _releasedAt,
    ...summary
  } = toSummary(event, event.attribution);
  const { identity: _identity, withheld: _withheld, clickIds: _clickIds, ...shown } = summary;
  return { ...shown, site: event.siteId };
}

async function states(store: Desk["store"], event: StoredEvent) {
  const deliveries = await store.deliveries.listByEvent(event.siteId, event.id);
  return deliveries.map(({ connectionId, platform, state, reason }) => ({
    connectionId,
    platform,
    state,
    reason,
  }));
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
    `  event id    ${trace.platformEventId} (what platforms received)`,
    `  received    ${timeText(trace.receivedAt)} UTC with key ${trace.key.name ?? trace.key.id}`,
    `  order       ${trace.orderId ?? "–"}`,
    `  person      ${trace.emailSha256}`,
    `  status      ${trace.status}${trace.filterReasons.length ? `: ${trace.filterReasons.join("; ")}` : ""}${trace.releasedAt ? `, released ${timeText(trace.releasedAt)} UTC` : ""}`,
    `  identity    ${attribution.identity}${clickIds.length ? `: ${clickIds.join(", ")}` : ""}`,
    `  consent     ${consent}`,
    ...trace.warnings.map((warning) => `  warning     ${warning}`),
  ];
  for (const delivery of trace.deliveries) {
    const next = delivery.nextTryAt === null ? "" : `, next try ${timeText(delivery.nextTryAt)} UTC`;
    lines.push(
      "",
      `  ${delivery.platform} (${delivery.connectionId}): ${delivery.state}${delivery.reason ? `: ${delivery.reason}` : ""}${next}`,
    );
    for (const attempt of delivery.log) {
      const answer = attempt.httpStatus === null ? attempt.reason : `HTTP ${attempt.httpStatus}`;
      lines.push(
        `    attempt ${attempt.number}  ${timeText(attempt.startedAt)}  ${attempt.durationMs} ms  ${answer ?? ""}`,
      );
      const printable = (text: string) => text.replace(/[^\P{Cc}\n]|\p{Cf}/gu, "·").split("\n");
      lines.push(...printable(attempt.request).map((line) => `      > ${line}`));
      if (attempt.response) lines.push(...printable(attempt.response).map((line) => `      < ${line}`));
    }
  }
  return lines.join("\n");
}
