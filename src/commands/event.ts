import { describeConfirmation } from "../delivery/confirmations/describe.ts";
import { describeCorrection } from "../delivery/corrections/describe.ts";
import { releaseEvent } from "../delivery/release.ts";
import { findEventById, readTrace, type Trace } from "../delivery/trace.ts";
import { readVersion } from "../installation/installation.ts";
import { hashPerson, readEmail } from "../identity/person.ts";
import { describeFilterReason, type Mode } from "../kernel/event.ts";
import { maskAddresses } from "../kernel/maskAddresses.ts";
import { Missing, Refusal } from "../kernel/refusal.ts";
import { countOf } from "../kernel/text.ts";
import { findSite } from "../sites/manage.ts";
import type { StoredEvent } from "../store/events/eventRow.ts";
import { findSites, readNumber, table, timeText, toPrintableLines, type CommandContext, type CliCommand } from "./context.ts";

export function eventCommands(program: CliCommand): void {
  const event = program.command("event").description("received events and their outcomes");

  event
    .command("list [site]")
    .description("list events, newest first")
    .option("--email <email>", "only events of this person")
    .option("--order <id>", "only events with this order id")
    .option("--filtered", "only filtered events")
    .option("--mode <mode>", "only live or only test events")
    .option("--before <id>", "only events older than this one")
    .option("--limit <n>", "maximum number of events", "20")
    .run(
      async (
        { store, directory, print },
        siteText: string | undefined,
        options: {
          email?: string;
          order?: string;
          filtered?: boolean;
          mode?: string;
          before?: string;
          limit: string;
        },
      ) => {
        const sites = findSites(directory, siteText);
        const limit = readNumber("limit", options.limit, 1000);
        const email = options.email === undefined ? undefined : readEmail(options.email);
        if (email === null) throw new Refusal("email", "--email is not an email address.");
        const filter = {
          ...(email ? { emailSha256: hashPerson({ email }).emailSha256 } : {}),
          ...(options.order === undefined ? {} : { orderId: maskAddresses(options.order) }),
          ...(options.filtered ? { status: "filtered" as const } : {}),
          ...(options.mode === undefined ? {} : { mode: readMode(options.mode) }),
          ...(options.before === undefined ? {} : { before: options.before }),
          limit,
        };
        const ofEach = await Promise.all(sites.map((site) => store.events.list(site.id, filter)));
        // Ids are in the order of time across sites.
        const found = ofEach
          .flat()
          .toSorted((one, other) => (one.id < other.id ? 1 : -1))
          .slice(0, limit);
        const events = await Promise.all(
          found.map(async (one) => ({ ...toJson(one), deliveries: await readStates(store, one) })),
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
        print({ events }, table(head, rows, "No matching events."));
      },
    );

  event
    .command("show <id>")
    .description("show the full trace of one event, by its id or its platform event id")
    .option("--site <site>", "search only this site")
    .run(async (context, id: string, options: { site?: string }) => {
      const trace = await readTrace({ ...context, version: readVersion() }, await findEvent(context, id, options.site));
      // The attribution has these in full.
      const { identity: _identity, withheld: _withheld, clickIds: _clickIds, ...shown } = trace;
      context.print(shown, traceText(trace));
    });

  event
    .command("release <id>")
    .description('"not a bot": deliver a filtered event, and never filter events of this person again')
    .option("--site <site>", "search only this site")
    .run(async (context, id: string, options: { site?: string }) => {
      const found = await findEvent(context, id, options.site);
      const site = findSite(context, found.siteId);
      const deliveries = await releaseEvent(context, site, found, context.by);
      context.print(
        { event: { id: found.id, released: true, deliveries } },
        `Event ${found.id} is released: ${countOf(deliveries, "delivery is", "deliveries are")} being sent, and events of this person are no longer filtered.`,
      );
    });
}

export async function findEvent(
  { store, directory }: CommandContext,
  id: string,
  siteText: string | undefined,
): Promise<StoredEvent> {
  for (const site of findSites(directory, siteText)) {
    const event = await findEventById(store, site.id, id);
    if (event) return event;
  }
  throw new Missing("event", `There is no event ${id}.`);
}

export function readMode(text: string): Mode {
  if (text !== "live" && text !== "test") throw new Refusal("mode", "--mode must be live or test.");
  return text;
}

function toJson(event: StoredEvent) {
  const { id, siteId, mode, status, value, currency, orderId, receivedAt } = event;
  return {
    id,
    site: siteId,
    platformEventId: event.platformEventId,
    mode,
    status,
    event: event.name,
    value,
    currency,
    orderId,
    receivedAt,
  };
}

async function readStates(store: CommandContext["store"], event: StoredEvent) {
  const deliveries = await store.deliveries.listByEvent(event.siteId, event.id);
  return deliveries.map(({ connectionId, platform, state, reason }) => ({
    connectionId,
    platform,
    state,
    reason,
  }));
}

function itemText(item: Trace["items"][number], currency: string): string {
  const texts = [item.name, item.category, item.brand].filter((text) => text !== null);
  const price = item.price === null ? [] : [`${item.price} ${currency}`];
  return toPrintableLines([`${item.quantity} × ${item.id}`, ...price, ...texts].join(", ")).join(" ");
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
    ...trace.items.map((item, at) => `  ${at === 0 ? "items" : "     "}       ${itemText(item, trace.currency)}`),
    `  person      ${trace.emailSha256}`,
    `  status      ${trace.status}${trace.filterReasons.length ? `: ${trace.filterReasons.map(describeFilterReason).join("; ")}` : ""}${trace.releasedAt ? `, released ${timeText(trace.releasedAt)} UTC` : ""}`,
    `  identity    ${attribution.identity}${clickIds.length ? `: ${clickIds.join(", ")}` : ""}`,
    `  consent     ${consent}`,
    ...trace.warnings.map((warning) => `  warning     ${warning}`),
  ];
  for (const delivery of trace.deliveries) {
    const next = delivery.nextTryAt === null ? "" : `, next attempt ${timeText(delivery.nextTryAt)} UTC`;
    lines.push(
      "",
      `  ${delivery.platform} (${delivery.connectionId}): ${delivery.state}${delivery.reason ? `: ${delivery.reason}` : ""}${next}`,
    );
    if (delivery.confirmation) lines.push(`    confirmation: ${describeConfirmation(delivery.confirmation)}`);
    if (delivery.correction) lines.push(`    correction: ${describeCorrection(delivery.correction)}`);
    for (const attempt of delivery.log) {
      const response = attempt.httpStatus === null ? attempt.reason : `HTTP ${attempt.httpStatus}`;
      lines.push(`    attempt ${attempt.number}  ${timeText(attempt.startedAt)}  ${attempt.durationMs} ms  ${response ?? ""}`);
      lines.push(...toPrintableLines(attempt.request).map((line) => `      > ${line}`));
      lines.push(...toPrintableLines(attempt.response ?? "").map((line) => `      < ${line}`));
    }
  }
  return lines.join("\n");
}
