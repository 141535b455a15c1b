// Changes a filtered set of deliveries of the sync log: replay sends them again, cancel stops them from being sent. A dry
// run counts what either would change.

import { threadShare } from "../kernel/concurrency.ts";
import type { DeliveryState } from "../kernel/event.ts";
import { english, say } from "../kernel/messages/message.ts";
import { Refusal, type By } from "../kernel/refusal.ts";
import { platformOf, platforms } from "../platforms/index.ts";
import type { Directory, Site } from "../sites/directory.ts";
import type { Store } from "../store/store.ts";
import type { LogFilter, LogLine } from "../store/deliveries/syncLog/syncLog.ts";
import { isSelected } from "./plan.ts";
import { repeatedStageReason } from "../identity/leadStages.ts";

type Context = { store: Pick<Store, "syncLog" | "audit">; directory: Directory };

/**
 * Refuses a filter that names an unknown platform or connection: an empty list would read as "nothing was sent". A removed
 * connection is known for as long as the site's log mentions it.
 */
export async function checkFilter(
  { store, directory }: Context,
  siteIds: readonly string[],
  { connectionId, platform }: LogFilter,
): Promise<void> {
  if (platform !== undefined && !platformOf(platform)) {
    const known = platforms.map((one) => one.id).join(", ");
    throw new Refusal("platform", say("unknown_platform_of", { id: platform, known }));
  }
  if (connectionId === undefined) return;
  for (const siteId of siteIds) if (await directory.connectionNow(siteId, connectionId)) return;
  for (const siteId of siteIds) {
    const { lines } = await store.syncLog.listPage(siteId, { connectionId }, { before: null, limit: 1 });
    if (lines.length > 0) return;
  }
  const sentence = say(siteIds.length === 1 ? "no_connection_at_site" : "no_connection", { id: connectionId });
  throw new Refusal("connection", sentence, `${english(sentence)} 'cleancast connection list' shows their ids.`);
}

export type Tally = {
  /** Deliveries that match the filter. */
  found: number;
  /** Deliveries that were changed; with `dryRun`, that would be. */
  changed: number;
  /** Those that were not changed, by reason. */
  leftAlone: Record<string, number>;
  /** Changed ones that still wait because of their connection's state, by that state. */
  waiting: Record<string, number>;
};

type Options = By & { dryRun: boolean };

const replayable: readonly DeliveryState[] = ["rejected", "expired", "skipped", "parked"];
const cancellable: readonly DeliveryState[] = ["queued", "parked"];
const pageSize = 500;

/** Queues deliveries again, due now. Their attempts so far count, and the age limit still applies. */
export function replay(context: Context, site: Site, filter: LogFilter, options: Options): Promise<Tally> {
  if (filter.states?.includes("queued")) throw new Refusal("state", say("replay_of_queued"));
  // Sent deliveries are replayed only when the filter names that state.
  const states = filter.states ?? replayable;
  return changeAll(context, site, { ...filter, states }, options, {
    action: "deliveries replayed",
    whyNot: (line) => whyNotReplayed(site, line),
    change: (lines) => context.store.syncLog.requeue(site.id, lines, states, options.now),
    overtaken: "changed meanwhile",
  });
}

/** Ends deliveries that are queued or parked. */
export function cancel(context: Context, site: Site, filter: LogFilter, options: Options): Promise<Tally> {
  const states = filter.states ?? cancellable;
  if (!states.every((state) => cancellable.includes(state))) throw new Refusal("state", say("cancel_of_ended"));
  return changeAll(context, site, { ...filter, states }, options, {
    action: "deliveries cancelled",
    whyNot: (line) => (isClaimed(line, options.now) ? beingSent : null),
    change: (lines) => context.store.syncLog.cancel(site.id, lines, options.now),
    overtaken: beingSent,
  });
}

const beingSent = "being sent at this moment";
const isClaimed = ({ state, owner, dueAt }: LogLine, now: number) => state === "queued" && owner !== "" && dueAt > now;

function whyNotReplayed(site: Site, line: LogLine): string | null {
  const connection = site.connections.find(({ id }) => id === line.connectionId);
  if (!connection) return "their connection was removed";
  if (line.erased) return "their person was erased";
  if (line.reason === repeatedStageReason) return "their lead has reached the stage before";
  return isSelected(connection, line.event) ? null : "their event is not selected for the connection";
}

type Change = {
  action: string;
  whyNot: (line: LogLine) => string | null;
  change: (lines: LogLine[]) => Promise<number>;
  /** The reason for deliveries that changed between being read and being written. */
  overtaken: string;
};

async function changeAll(
  { store }: Context,
  site: Site,
  filter: LogFilter,
  { actor, now, dryRun }: Options,
  { action, whyNot, change, overtaken }: Change,
): Promise<Tally> {
  const tally: Tally = { found: 0, changed: 0, leftAlone: {}, waiting: {} };
  const leave = (reason: string, n = 1) => add(tally.leftAlone, reason, n);
  try {
    let before: { eventId: string; connectionId: string } | null = null;
    do {
      const page = await store.syncLog.listPage(site.id, filter, { before, limit: pageSize });
      before = page.next;
      tally.found += page.lines.length;
      const fit = page.lines.filter((line) => {
        const reason = whyNot(line);
        if (reason !== null) leave(reason);
        return reason === null;
      });
      const changed = dryRun ? fit.length : await change(fit);
      tally.changed += changed;
      if (changed < fit.length) leave(overtaken, fit.length - changed);
      for (const { connectionId } of fit) {
        const state = site.connections.find(({ id }) => id === connectionId)?.state ?? "active";
        if (state !== "active") add(tally.waiting, state, 1);
      }
      // A large set must not slow down inbound requests.
      await threadShare.nextSlice(site.id);
    } while (before);
  } finally {
    // Also after a failure: some deliveries may have been changed before it.
    if (tally.changed > 0 && !dryRun) {
      const detail = { ...toAuditDetail(filter), changed: tally.changed, leftAlone: tally.leftAlone };
      await store.audit.add({ siteId: site.id, actor, action, detail, at: now });
    }
  }
  return tally;
}

const add = (counts: Record<string, number>, name: string, n: number) => {
  counts[name] = (counts[name] ?? 0) + n;
};

/** Returns the filter for the audit log, without the person. */
function toAuditDetail(filter: LogFilter): Record<string, unknown> {
  const { emailSha256, confirmation, chosen, withoutUnselected: _left, ...rest } = filter;
  const { state, reason } = confirmation ?? {};
  return {
    ...rest,
    ...(state === undefined ? {} : { confirmation: state }),
    ...(reason === undefined ? {} : { confirmationReason: reason }),
    ...(emailSha256 === undefined ? {} : { email: "(given)" }),
    ...(chosen === undefined ? {} : { chosen: chosen.length }),
  };
}
