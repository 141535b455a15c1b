// Checks the conditions that raise alerts. Each check knows whether its alert is open: an open alert ends later than a new
// one would begin, so that a value that wavers around its limit does not send a message every minute.

import { say } from "../kernel/messages/message.ts";
import { timeText } from "../kernel/text.ts";
import { dayMs, hourMs, minuteMs } from "../kernel/time.ts";
import type { AlertKind } from "../kernel/event.ts";
import type { Connection, Host, Site } from "../sites/directory.ts";
import { problemOf } from "../sites/hostProblems.ts";
import { keyOf, type Alert, type Finding } from "../store/statistics/alerts.ts";
import { allSettings } from "../store/sites/siteSettings.ts";
import type { Webhook } from "../store/outbound/webhooks.ts";
import type { DataExport } from "../store/export/dataExports.ts";
import type { Store } from "../store/store.ts";
import { hoursNeeded, judgeSilence } from "./silence.ts";
import { appSubject, hoursText, nameOf } from "./message.ts";
import { createNotCountedCheck } from "./notCounted.ts";
import { createQualityCheck } from "./quality.ts";
import { checkAcceptedOrders, checkFeed } from "./reconciliation.ts";
import type { SlowCheck } from "./slowCheck.ts";
import { createSignatureCheck, createSourceFailureCheck, createSourceSilenceCheck } from "./sources.ts";

/** A condition must be absent for this long before its alert ends. Wrong keys lock a host for 15 minutes at a time. */
export const quietMs: Record<AlertKind, number> = {
  "needs reconnection": 0,
  "success rate": 0,
  silence: 0,
  webhook: 0,
  "wrong keys": hourMs,
  queue: 10 * minuteMs,
  host: 0,
  // Damaged events are found only when they are due.
  "damaged data": hourMs,
  "not counted": 0,
  quality: 0,
  "accepted orders": 0,
  "order feed": 0,
  "data export": 0,
  "source silence": 0,
  "wrong signatures": hourMs,
  "source failing": 0,
};

export type Facts = Pick<
  Store,
  | "alerts"
  | "confirmations"
  | "sourceRequests"
  | "keyUse"
  | "webhooks"
  | "reconciliations"
  | "orderFeeds"
  | "dataExports"
  | "snapshots"
>;

/** A check passes this on to the next one. */
type CheckMemory = {
  /** The number of deliveries that waited for each connection at earlier checks, to recognise a queue that grows. */
  backlogs: Map<string, { at: number; count: number }[]>;
  /** By site: no pause can be unusual between the two times. */
  usualPauses: Map<string, { from: number; until: number }>;
  notCounted: ReturnType<typeof createNotCountedCheck>;
  quality: ReturnType<typeof createQualityCheck>;
  sources: readonly SlowCheck<Facts>[];
};

export const newCheckMemory = (): CheckMemory => ({
  backlogs: new Map(),
  usualPauses: new Map(),
  notCounted: createNotCountedCheck(),
  quality: createQualityCheck(),
  sources: [createSourceSilenceCheck(), createSignatureCheck(), createSourceFailureCheck()],
});

/** True where a check of a site that `listConcerned` of the store does not name can find a problem. */
export function mayHaveProblem(site: Site, memory: CheckMemory, now: number): boolean {
  const { usualPauses, notCounted, quality, sources } = memory;
  return (
    sources.some((check) => check.mayFind(site, now)) ||
    site.unreadable !== undefined ||
    site.connections.some((one) => needsReconnection(one) || (one.state !== "active" && one.state !== "paused")) ||
    site.hostRows.some((host) => checkHost(host, site.settings.timeZone, now) !== null) ||
    notCounted.mayFind(site, now) ||
    quality.mayFind(site, now) ||
    (site.settings.inbound && !isPauseUsual(usualPauses.get(site.id), now))
  );
}

/** A clock that was set back makes the times meaningless. */
const isPauseUsual = (known: { from: number; until: number } | undefined, now: number) =>
  known !== undefined && known.from <= now && now <= known.until;

type SiteCheck = { facts: Facts; site: Site; memory: CheckMemory; now: number };

export async function checkSite(check: SiteCheck, open: readonly Alert[]): Promise<Finding[]> {
  const { facts, site, memory, now } = check;
  const { timeZone } = site.settings;
  const known = new Map(open.map((alert) => [keyOf(alert), alert]));
  const openOf = (kind: AlertKind, subject: string) => known.get(keyOf({ kind, subject }));
  const findings: (Finding | null)[] = [
    ...site.connections.map(checkToken),
    ...(site.unreadable ?? []).map(checkDamage),
    ...site.hostRows.map((host) => checkHost(host, timeZone, now)),
    await checkSilence(check, openOf("silence", "")),
    ...(await memory.notCounted.check(facts, site, open, now)),
    ...(await memory.quality.check(facts, site, open, now)),
  ];
  for (const sources of memory.sources) findings.push(...(await sources.check(facts, site, open, now)));
  for (const connection of site.connections) {
    findings.push(
      await checkSuccessRate(check, connection, openOf("success rate", connection.id)),
      await checkQueue(check, connection),
    );
  }
  for (const webhook of await facts.webhooks.list(site.id)) findings.push(checkWebhook(webhook, timeZone, now));
  for (const { host, startedAt } of await facts.keyUse.listLockouts(site.id, now)) {
    const text = say("alert_wrong_keys", { host, since: timeText(startedAt, timeZone) });
    findings.push({ kind: "wrong keys", subject: host, text });
  }
  const runs = await facts.reconciliations.list(site.id);
  findings.push(
    ...checkAcceptedOrders(runs, site.connections, timeZone, now),
    ...checkFeed(await facts.orderFeeds.find(site.id), timeZone, now),
    checkExport(await facts.dataExports.find(site.id), timeZone, now),
  );
  return findings.filter((one) => one !== null);
}

/** A short outage of a store is no problem: no hour is left out. */
function checkExport(one: DataExport | null, timeZone: string, now: number): Finding | null {
  if (!one || one.failingSince === null || one.failingSince > now - dayMs) return null;
  return { kind: "data export", subject: "", text: say("alert_data_export", { since: timeText(one.failingSince, timeZone) }) };
}

function checkToken(connection: Connection): Finding | null {
  if (!needsReconnection(connection)) return null;
  // The platform's own text stays out of messages: it may contain anything.
  const text = connection.unreadable
    ? say("alert_connection_unreadable", { connection: nameOf(connection) })
    : say("alert_credentials", { connection: nameOf(connection) });
  return { kind: "needs reconnection", subject: connection.id, text };
}

/** A damaged connection also does while it is paused. */
export const needsReconnection = ({ state, unreadable }: Connection) =>
  state === "needs reconnection" || unreadable !== undefined;

/** `name` is one of the settings of a site that cannot be read, or all of them. */
function checkDamage(name: string): Finding {
  const text = name === allSettings ? say("alert_settings_unreadable") : say("alert_address_unreadable");
  return { kind: "damaged data", subject: name, text };
}

/** Without its OAuth app a connection cannot renew its token. `apps` are the platforms whose app cannot be read. */
export function checkApps({ connections }: Site, apps: ReadonlySet<string>): Finding[] {
  const affected = new Set(
    connections
      .filter(({ platform, settings }) => apps.has(platform) && settings.refresh_token !== undefined)
      .map(({ platform }) => platform),
  );
  return [...affected].map((platform) => ({
    kind: "damaged data",
    subject: `${appSubject}${platform}`,
    text: say("alert_app_unreadable", { platform }),
  }));
}

/** One failed check may be a short outage: the next one, an hour later, must have failed too. */
function checkHost(host: Host, timeZone: string, now: number): Finding | null {
  const { failingSince, checkedAt, verifiedAt, pausedAt } = host;
  if (failingSince === null || verifiedAt === null || pausedAt !== null) return null;
  if (failingSince > now - hourMs || (checkedAt ?? 0) <= failingSince) return null;
  const what = problemOf(host.host, host, null)?.what;
  return {
    kind: "host",
    subject: host.host,
    text: say("alert_host", { problem: what ?? "", since: timeText(failingSince, timeZone) }),
  };
}

const minAttempts = 20;

async function checkSuccessRate(
  { facts, site, now }: SiteCheck,
  connection: Connection,
  open: Alert | undefined,
): Promise<Finding | null> {
  const limit = site.settings.alertSuccessRate;
  if (limit === 0 || connection.state === "paused") return null;
  const subject = connection.id;
  const stays = open ? { kind: open.kind, subject, text: open.text } : null;
  // Without credentials no delivery is attempted: the alert "needs reconnection" covers that.
  if (connection.state !== "active") return stays;
  const { parked: _parked, ...ended } = await facts.alerts.countAttempts(site.id, connection.id, now - hourMs);
  const attempts = Object.values(ended).reduce((sum, n) => sum + n, 0);
  if (attempts === 0) return stays;
  const percent = Math.floor((100 * (ended.sent ?? 0)) / attempts);
  const isLow = open ? percent < Math.min(100, limit + 5) : attempts >= minAttempts && percent < limit;
  if (!isLow) return null;
  const text = say("alert_success_rate", { attempts, connection: nameOf(connection), percent, limit });
  return { kind: "success rate", subject, text };
}

async function checkSilence({ facts, site, memory, now }: SiteCheck, open: Alert | undefined): Promise<Finding | null> {
  const { usualPauses } = memory;
  if (!open && isPauseUsual(usualPauses.get(site.id), now)) return null;
  if (!site.settings.inbound) return null;
  const uses = new Map<number, number>();
  let lastAt = 0;
  const fromHour = Math.floor(now / hourMs) - hoursNeeded;
  for (const key of site.keys.filter(({ mode }) => mode === "live")) {
    for (const one of await facts.alerts.listKeyUses(site.id, key.id, fromHour)) {
      uses.set(one.hour, (uses.get(one.hour) ?? 0) + one.uses);
      lastAt = Math.max(lastAt, one.lastUsedAt);
    }
  }
  // The alert ends with the next event, not when such a long silence has become usual.
  if (open) return lastAt < open.beganAt ? { kind: "silence", subject: "", text: open.text } : null;
  const judged = judgeSilence(uses, lastAt, now);
  if (!judged.isUnusual) {
    usualPauses.set(site.id, { from: now, until: judged.until });
    return null;
  }
  const text = say("alert_silence", {
    since: timeText(judged.since, site.settings.timeZone),
    pause: hoursText(judged.usualHours),
  });
  return { kind: "silence", subject: "", text };
}

function checkWebhook(
  { id, origin, state, stateReason, isDisabledByPerson, failingSince }: Webhook,
  timeZone: string,
  now: number,
): Finding | null {
  const kind = "webhook";
  if (state === "disabled") {
    // The person who disabled it needs no alert.
    if (isDisabledByPerson) return null;
    const about = { id, origin: origin ?? "", reason: stateReason ?? "it failed for too long" };
    const text =
      origin === null
        ? say("alert_webhook_unreadable", { id })
        : failingSince === null
          ? say("alert_webhook_disabled", about)
          : say("alert_webhook_disabled_since", { ...about, since: timeText(failingSince, timeZone) });
    return { kind, subject: id, text };
  }
  if (failingSince === null || failingSince > now - hourMs) return null;
  const text = say("alert_webhook_failing", { id, origin: origin ?? "", since: timeText(failingSince, timeZone) });
  return { kind, subject: id, text };
}

const overdueMs = 15 * minuteMs;
const manyWaiting = 10_000;
const comparedMs = 10 * minuteMs;

async function checkQueue({ facts, site, memory, now }: SiteCheck, connection: Connection): Promise<Finding | null> {
  const { backlogs } = memory;
  const { count, isAtLeast, oldestDueAt } = await facts.alerts.measureQueue(connection.siteId, connection.id);
  const key = `${connection.siteId} ${connection.id}`;
  const earlier = (backlogs.get(key) ?? []).filter(({ at }) => at >= now - comparedMs);
  if (count > 0) backlogs.set(key, [...earlier, { at: now, count }]);
  else backlogs.delete(key);
  const number = isAtLeast ? say("more_than", { count: count.toLocaleString("en") }) : count.toLocaleString("en");
  const finding = { kind: "queue", subject: connection.id } as const;
  if (oldestDueAt !== null && oldestDueAt <= now - overdueMs) {
    const since = timeText(oldestDueAt, site.settings.timeZone);
    const text = say("alert_delayed", { connection: nameOf(connection), count: number, since });
    return { ...finding, text };
  }
  const first = earlier[0];
  const isGrowing = isAtLeast || (first !== undefined && first.at <= now - comparedMs / 2 && count > first.count);
  if (count <= manyWaiting || !isGrowing) return null;
  return {
    ...finding,
    text: say("alert_growing", { count: number, connection: nameOf(connection) }),
  };
}
