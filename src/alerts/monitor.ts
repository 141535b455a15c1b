// Checks every site periodically for problems that need a person, and sends notifications. Only the node that holds the
// lease does this. A channel is notified when an alert begins, once a day while the alert lasts, and when it is over. Each
// notification is recorded before and after it is sent; one that failed is sent again after the next check.

import { createLeaderJob, type JobNode, type LeaderJob, type Leadership } from "../background/leaderJob.ts";
import { dayMs, minuteMs } from "../kernel/time.ts";
import type { Directory, Site } from "../sites/directory.ts";
import type { Alert, Finding, Notification } from "../store/statistics/alerts.ts";
import type { Store } from "../store/store.ts";
import { channelsOf, type Channel, type ChannelOptions } from "./channels.ts";
import { checkApps, checkSite, mayHaveProblem, needsReconnection, newCheckMemory, quietMs, type Facts } from "./conditions.ts";
import { stopWhenDown } from "./mail.ts";
import { messageOf, noticeOf, type Phase } from "./message.ts";
import { pushChannelsOf } from "./push/push.ts";

type AlertOptions = JobNode & {
  store: Facts & Pick<Store, "alerts" | "leases" | "platformSignIns" | "pushDevices" | "pushKey">;
  directory: Directory;
  channels: ChannelOptions;
};

/** A node that began to send and recorded no result within this time has died. */
const sendingMs = minuteMs;
/** An alert that ended longer ago is no longer announced as over. */
const staleMs = dayMs;
const maxConcurrent = 4;
/** Sending stops after this time, or after `everyMs` if that is longer; the rest waits for the next check. */
const minSendingMs = 10_000;

type Pending = { site: Site; alerts: readonly Alert[] };

export function createAlertJob(options: AlertOptions): LeaderJob {
  const { store, directory, owner, everyMs = minuteMs, now, elapsed } = options;
  const memory = newCheckMemory();
  /** The sites whose notifications did not all have their turn, the next one first. */
  let waiting: readonly string[] = [];

  /** Checks all sites once. Reads the facts of those sites alone that may have a problem: of thousands, few have one. */
  async function check({ signal, mayContinue, each }: Leadership): Promise<void> {
    if (!(await mayContinue())) return;
    const concerned = await store.alerts.listConcerned(now(), now() - staleMs);
    const apps = (await store.platformSignIns.listApps()).filter(({ isReadable }) => !isReadable);
    const unreadableApps = new Set(apps.map(({ platform }) => platform));
    const mayNeedAlert = (site: Site) =>
      !concerned || concerned.has(site.id) || checkApps(site, unreadableApps).length > 0 || mayHaveProblem(site, memory, now());
    // A site that is moved is watched by the installation that it is moved to.
    const checked = [...directory.sites()].filter((site) => !site.leaving && mayNeedAlert(site));
    const pending: Pending[] = [];
    await each(
      checked,
      ({ id }) => ({ site: id }),
      async (site) => {
        const alerts = await updateAlerts(site, unreadableApps);
        if (alerts.length > 0) pending.push({ site, alerts });
      },
    );
    if (await mayContinue()) await sendAll(pending, signal);
  }

  /** Records which alerts of a site begin and end; returns those that a channel may have to be notified of. */
  async function updateAlerts(site: Site, unreadableApps: ReadonlySet<string>): Promise<Alert[]> {
    const at = now();
    const known = await store.alerts.listSince(site.id, at - staleMs);
    const open = known.filter((alert) => alert.endedAt === null);
    const findings = checkApps(site, unreadableApps);
    for (const finding of await checkSite({ facts: store, site, memory, now: at }, open))
      if (await isCurrent(site, finding)) findings.push(finding);
    if (findings.length === 0 && open.length === 0) return known;
    await store.alerts.reconcile(site.id, findings, at, quietMs);
    return store.alerts.listSince(site.id, at - staleMs);
  }

  /** The directory may be a second old: what was just connected or set again must not raise an alert. */
  async function isCurrent(site: Site, { kind, subject }: Finding): Promise<boolean> {
    if (kind === "damaged data") {
      await directory.refresh();
      return directory.site(site.id)?.unreadable?.includes(subject) === true;
    }
    if (kind !== "needs reconnection") return true;
    const connection = await directory.connectionNow(site.id, subject);
    return connection !== undefined && needsReconnection(connection);
  }

  /** Sites take turns, with one notification in each: a site whose channels hang must not keep others from being notified. */
  async function sendAll(pending: readonly Pending[], signal: AbortSignal): Promise<void> {
    const endsAt = elapsed() + Math.max(everyMs, minSendingMs);
    const { mailer } = options.channels;
    const channels = { ...options.channels, mailer: mailer && stopWhenDown(mailer) };
    const places = new Map(waiting.map((siteId, place) => [siteId, place]));
    const placeOf = ({ site }: Pending) => places.get(site.id) ?? places.size;
    const queue = pending
      .toSorted((one, other) => placeOf(one) - placeOf(other))
      .map((one) => ({ siteId: one.site.id, notifications: sendEach(one, channels) }));
    async function takeTurns(): Promise<void> {
      while (!signal.aborted && elapsed() < endsAt) {
        const next = queue.shift();
        if (!next) return;
        const { done } = await next.notifications.next();
        if (!done) queue.push(next);
      }
    }
    await Promise.all(Array.from({ length: maxConcurrent }, takeTurns));
    waiting = queue.map(({ siteId }) => siteId);
  }

  /** Yields after each notification. */
  async function* sendEach({ site, alerts }: Pending, channels: ChannelOptions): AsyncGenerator<undefined, void> {
    const all = [...channelsOf(site, channels), ...(await pushChannelsOf(site, { ...channels, store, now }))];
    for (let alert of alerts)
      for (const channel of all) {
        const phase = findDuePhase(alert, alert.notifications[channel.key], now());
        if (phase === null) continue;
        const notified = await notify(site, alert, channel, phase);
        yield;
        if (!notified) break;
        alert = notified;
      }
  }

  /** Returns null when another node sends the same notification. */
  async function notify(site: Site, alert: Alert, channel: Channel, phase: Phase): Promise<Alert | null> {
    const before: Notification = alert.notifications[channel.key] ?? neverNotified;
    const claim = { ...before, triedAt: now(), isTrying: true, by: owner };
    const claimed = await store.alerts.saveNotification(alert, channel.key, claim);
    if (!claimed) return null;
    const sent = await channel.send(noticeOf(messageOf(site, alert, phase), options.channels.publicUrl));
    const result = { triedAt: now(), isTrying: false, by: owner };
    const notification: Notification = sent.ok
      ? { ...result, notified: phase === "over" ? "over" : "began", notifiedAt: result.triedAt, error: null }
      : { ...before, ...result, error: sent.error };
    return store.alerts.saveNotification(claimed, channel.key, notification);
  }

  return createLeaderJob({
    firstMs: everyMs * Math.random(),
    ...options,
    everyMs,
    name: "alerts",
    leases: store.leases,
    leaseMs: 3 * everyMs,
    work: check,
  });
}

const neverNotified: Notification = {
  notified: null,
  notifiedAt: 0,
  triedAt: 0,
  isTrying: false,
  by: "",
  error: null,
};

/** Finds the notification that a channel has to get now; null when it is up to date. */
function findDuePhase(alert: Alert, last: Notification = neverNotified, now: number): Phase | null {
  // A time in the future was written by a clock that ran ahead.
  if (last.isTrying && Math.abs(now - last.triedAt) < sendingMs) return null;
  if (alert.endedAt !== null) return last.notified === "began" ? "over" : null;
  if (last.notified === null) return "began";
  return last.notifiedAt <= now - dayMs ? "reminder" : null;
}
