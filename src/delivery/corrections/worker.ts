// Corrects conversions whose orders were refunded or cancelled, at sites that switched it on. One node does it for all sites, some
// minutes behind the clock: it reads the events of a site on, finds refunds and the conversions that they concern, and sends the
// corrections that are due. Nothing of this is on the path of an event.

import { isDeepStrictEqual } from "node:util";
import { createLeaderJob, type JobNode, type LeaderJob } from "../../background/leaderJob.ts";
import { withCurrentConsent } from "../../identity/attribution.ts";
import type { CorrectionState } from "../../kernel/correction.ts";
import { yieldToEventLoop } from "../../kernel/deadline.ts";
import type { Conversion, Reading } from "../../kernel/event.ts";
import { idAt } from "../../kernel/ids.ts";
import { say } from "../../kernel/messages/message.ts";
import { dayMs, hourMs, maxSkewMs, minuteMs } from "../../kernel/time.ts";
import { platformOf } from "../../platforms/index.ts";
import type { ConnectionSettings, Correction, Corrections, Platform } from "../../platforms/platform.ts";
import { skipOf } from "../../platforms/shared/skips.ts";
import { withRuledValue } from "../../platforms/valueRules.ts";
import { mayBeCut } from "../../sites/connect.ts";
import { isWorking, type Connection, type Directory, type Site } from "../../sites/directory.ts";
import type { ConfirmationRow } from "../../store/confirmations/confirmations.ts";
import type { CorrectionRow } from "../../store/corrections/corrections.ts";
import type { Store } from "../../store/store.ts";
import { askPlatform } from "../askPlatform.ts";
import { takeQuota, type Quota } from "../lanes/quota.ts";
import type { Tokens } from "../oauth/tokens.ts";
import { toConversion } from "../conversion.ts";
import type { Sender } from "../send.ts";
import { cannotTakeBack, findCorrections, nameOf, notThere } from "./find.ts";

export type CorrectionOptions = JobNode & {
  store: Pick<
    Store,
    "audit" | "confirmations" | "corrections" | "deliveries" | "events" | "orderCandidates" | "people" | "leases"
  >;
  directory: Pick<Directory, "sites">;
  sender: Sender;
  tokens: Tokens;
  quota: Quota;
  /** A correction has a result. */
  onCorrected: (platform: string, state: CorrectionState) => void;
};

/**
 * Events with smaller ids are all there by then, so that reading on in their order misses none. For those of a node whose clock is
 * behind the store moves the head back.
 */
const lagMs = 2 * minuteMs;
/** A clock that ran ahead has read beyond the ids of what comes in after its correction. Reading begins again this far back. */
const againMs = hourMs;
const pageSize = 200;
/** The events of a site in one step, so that it does not keep the others waiting. */
const maxPages = 100;
const maxDue = 100;
/** A conversion that is not sent yet, or not counted yet, is looked at again after this time. */
const unsentMs = hourMs;
const retryAfterMs = [10 * minuteMs, hourMs, 6 * hourMs, dayMs, dayMs, 2 * dayMs];

export function createCorrectionJob(options: CorrectionOptions): LeaderJob {
  const { store, directory } = options;
  /** Sites that are off and have no head. */
  const off = new Set<string>();

  async function step(site: Site, mayContinue: () => Promise<boolean>): Promise<void> {
    if (!site.settings.corrections) {
      if (!off.has(site.id)) await store.corrections.removeCursor(site.id);
      off.add(site.id);
      return;
    }
    off.delete(site.id);
    await findRefunds(options, site, mayContinue);
    const due = await store.corrections.listDue(site.id, options.now(), maxDue);
    for (const row of due) {
      if (!(await mayContinue())) return;
      await correct(options, site, row);
    }
  }

  return createLeaderJob({
    everyMs: minuteMs,
    ...options,
    name: "corrections",
    leases: store.leases,
    leaseMs: 30_000,
    work: ({ each, mayContinue }) =>
      each(
        [...directory.sites()].filter(isWorking),
        ({ id }) => ({ site: id }),
        (site) => step(site, mayContinue),
      ),
  });
}

async function findRefunds({ store, now }: CorrectionOptions, site: Site, mayContinue: () => Promise<boolean>): Promise<void> {
  let stored = await store.corrections.readCursor(site.id);
  for (let pages = 0; pages < maxPages; pages++) {
    const [end, latest] = [idAt(now() - lagMs), idAt(now() - lagMs + maxSkewMs)];
    // Refunds from before the switch was turned on are not corrected. It may have been turned on while a clock ran ahead.
    if (stored === null || stored.sinceId > latest) {
      await store.corrections.addFound(site.id, stored, { eventId: end, highestId: end, sinceId: end }, []);
      return;
    }
    const after = stored.eventId > latest ? idAt(now() - againMs) : stored.eventId;
    const events = await store.events.listRange(site.id, maxId(after, stored.sinceId), end, pageSize);
    const last = events.at(-1);
    if (!last) return;
    const readable = events.flatMap(({ event }) => (event === "damaged" ? [] : event));
    const found = await findCorrections({ store, site }, readable, now());
    const head = { ...stored, eventId: last.id, highestId: maxId(last.id, stored.highestId) };
    if (!(await store.corrections.addFound(site.id, stored, head, found))) return;
    stored = head;
    if (!(await mayContinue())) return;
    // The embedded store works on the thread that accepts events.
    await yieldToEventLoop();
  }
}

const maxId = (one: string, other: string) => (one > other ? one : other);

type CorrectingPlatform = Platform & { corrections: Corrections };

const canCorrect = (platform: Platform): platform is CorrectingPlatform => platform.corrections !== undefined;

async function correct(options: CorrectionOptions, site: Site, row: CorrectionRow): Promise<void> {
  const { store, now, onCorrected } = options;
  const connection = site.connections.find(({ id }) => id === row.connectionId);
  const platform = connection && platformOf(connection.platform);
  if (!connection || !platform) return store.corrections.remove(row);
  const settle = async (of: CorrectionRow, state: CorrectionState, reason: string | null) => {
    if (await store.corrections.settle(of, { state, reason }, now())) onCorrected(platform.id, state);
  };
  const read = await readConversion(options, site, row);
  if (read === "gone") return store.corrections.remove(row);
  if (read === "not sent yet") return store.corrections.postpone(row, now() + unsentMs);
  if ("nothing" in read) return settle(row, "nothing to correct", read.nothing);
  const { conversion: found, sentAt } = read;
  if (!canCorrect(platform)) return settle(row, "cannot be taken back", cannotTakeBack(platform.id));
  const { corrections } = platform;
  // A connection that is paused, or has no valid token, waits.
  if (connection.state !== "active") return store.corrections.postpone(row, now() + unsentMs);
  const cannot = cannotCorrect(platform, connection, found, now());
  if (cannot !== null) return settle(row, "cannot be taken back", cannot);
  const { foundBy } = corrections;
  if (foundBy.of(found, connection.settings) !== foundBy.of(found, await settingsAt(options.store, connection, sentAt)))
    return settle(row, "cannot be taken back", `${foundBy.name} was changed since`);
  if (takeQuota(options, connection) > 0) return;
  const wait = retryAfterMs[row.attempts];
  const claimed = await store.corrections.claim(row, now() + (wait ?? dayMs));
  if (!claimed) return;
  const correctionOf = (settings: ConnectionSettings): Correction => {
    // The rest follows the rule of the whole.
    const rest = { ...found, value: row.value, whole: { value: found.value, items: found.items } };
    const value = withRuledValue(rest, settings).value ?? row.value;
    return { conversion: withRuledValue(found, settings), value, at: now() };
  };
  const reading = await askPlatform<Reading | { kind: "outdated" }>(options, connection, platform, {
    // The person may have opted out or been erased since it was read.
    toRequest: async (settings) =>
      isDeepStrictEqual(await readConversion(options, site, row), read)
        ? corrections.toRequest(correctionOf(settings), settings, now())
        : { kind: "outdated" },
    read: (response, settings) => corrections.read(response, correctionOf(settings), settings, now()),
  });
  if (reading.kind === "outdated") return store.corrections.postpone(claimed, now());
  if (reading.kind === "accepted") return settle(claimed, "corrected", null);
  if (reading.kind === "rejected" || wait === undefined) return settle(claimed, "rejected", reading.error);
  await store.corrections.settle(claimed, { state: "waiting", reason: reading.error }, now());
}

/**
 * The conversion is built as it was sent, with the consent of today. It is corrected once the platform may count it: a platform
 * takes the correction of one that it does not count for a new conversion.
 */
async function readConversion(
  { store, now }: CorrectionOptions,
  site: Site,
  { eventId, connectionId }: CorrectionRow,
): Promise<{ conversion: Conversion; sentAt: number } | "gone" | "not sent yet" | { nothing: string }> {
  const event = await store.events.get(site.id, eventId);
  const deliveries = await store.deliveries.listByEvent(site.id, eventId);
  const delivery = deliveries.find((one) => one.connectionId === connectionId);
  if (!event || event === "damaged" || !delivery || event.isErased) return "gone";
  if (delivery.state === "queued" || delivery.state === "parked") return "not sent yet";
  const attempts = await store.deliveries.listAttempts(site.id, eventId);
  const accepted = attempts.filter((one) => one.connectionId === connectionId && one.state === "sent");
  if (accepted.length === 0) return { nothing: notThere(delivery.platform) };
  const sentAt = Math.max(...accepted.map(({ startedAt }) => startedAt));
  const confirmations = await store.confirmations.listByEvents(site.id, [eventId]);
  const confirmation = confirmations.find((one) => one.connectionId === connectionId);
  const counting = countingOf(delivery.platform, sentAt, confirmation, now());
  if (counting === "undecided") return "not sent yet";
  if (counting === "not counted") {
    const reason = confirmation?.reason ?? "other";
    return { nothing: say("platform_did_not_count", { platform: nameOf(delivery.platform), reason }) };
  }
  const attribution = await withCurrentConsent(store.people, event, site.settings.consentMode);
  return { conversion: toConversion(event, event.platformEventId, attribution), sentAt };
}

const auditPage = 200;

/** The settings of a connection at that time, but for secrets: each change of it is in the audit log, with what was before. */
async function settingsAt(
  { audit }: Pick<Store, "audit">,
  { siteId, id, settings }: Connection,
  at: number,
): Promise<ConnectionSettings> {
  const earlier = new Map<string, unknown>(Object.entries(settings));
  for (let before: string | undefined; ;) {
    const lines = await audit.list(siteId, auditPage, before, { from: at + 1 });
    for (const line of lines) {
      if (line.action !== "connection changed" || line.detail.id !== id) continue;
      for (const [name, value] of Object.entries(line.detail.before ?? {})) if (!mayBeCut(value)) earlier.set(name, value);
    }
    before = lines.at(-1)?.id;
    if (lines.length < auditPage) break;
  }
  return Object.fromEntries([...earlier].filter((one): one is [string, string] => typeof one[1] === "string"));
}

/** A confirmation from before the last sending says nothing about it. */
function countingOf(
  platform: string,
  sentAt: number,
  confirmation: ConfirmationRow | undefined,
  now: number,
): "undecided" | "not counted" | "may be counted" {
  if (confirmation && confirmation.updatedAt >= sentAt)
    return confirmation.state === "not counted" ? "not counted" : "may be counted";
  const lastAskedMinutes = platformOf(platform)?.confirmations?.askAfterMinutes.at(-1);
  if (lastAskedMinutes === undefined) return "may be counted";
  // Some conversions cannot be asked for. Nothing waits for an answer for longer than the platform is asked.
  return now < sentAt + lastAskedMinutes * minuteMs + hourMs ? "undecided" : "may be counted";
}

function cannotCorrect(
  platform: CorrectingPlatform,
  { settings }: Connection,
  conversion: Conversion,
  now: number,
): string | null {
  const { name, corrections } = platform;
  const { maxAgeDays } = corrections;
  if (now - conversion.time > maxAgeDays * dayMs) return `older than the ${maxAgeDays} days that ${name} takes corrections of`;
  return skipOf(platform, conversion, settings)?.reason ?? corrections.cannotCorrect?.(conversion, settings) ?? null;
}
