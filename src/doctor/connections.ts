// Checks each connection: its state, its token, its backlog, and whether anything was ever accepted.

import { tokenExpiryOf } from "../sites/connectionSettings.ts";
import type { Connection, Site } from "../sites/directory.ts";
import { countOf } from "../kernel/text.ts";
import { dayMs, minuteMs } from "../kernel/time.ts";
import {
  error,
  nameOf,
  note,
  soonMs,
  timeText,
  warning,
  type Finding,
  type StoreContext,
} from "./finding.ts";

export async function checkConnections(context: StoreContext): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const site of context.directory.sites()) {
    for (const connection of site.connections) {
      findings.push(
        ...(await checkState(site, connection, context)),
        ...checkToken(site, connection, context.now),
        ...(await checkBacklog(site, connection, context)),
        ...(await checkUse(site, connection, context)),
      );
    }
    findings.push(...(await checkOnlySandbox(site, context)));
  }
  return findings;
}

const labelOf = (site: Site, { platform, id }: Connection) => `${nameOf(site)}: ${platform} (${id})`;

async function checkState(site: Site, connection: Connection, context: StoreContext): Promise<Finding[]> {
  if (connection.state === "active") return [];
  const why = connection.stateReason ? `: ${connection.stateReason}` : "";
  const what = `${labelOf(site, connection)} ${connection.state}${why}`;
  if (connection.state === "paused") return [warning(what, `cleancast connection resume ${connection.id}`)];
  const remedy = (await expiredAfterAWeek(site, connection, context))
    ? 'The sign-in lasted seven days, as Google\'s do while the OAuth app is in "Testing": publish the app in the Google Cloud console, then sign in again.'
    : `cleancast connect ${nameOf(site)} ${connection.platform} … with fresh credentials`;
  return [error(what, remedy)];
}

/** Google revokes the refresh tokens of unpublished apps after a week. */
async function expiredAfterAWeek(
  site: Site,
  { id, platform, settings }: Connection,
  { store }: StoreContext,
): Promise<boolean> {
  if (!["google_ads", "ga4"].includes(platform) || !settings.refresh_token) return false;
  const lines = (await store.audit.list(site.id, 200)).filter(({ detail }) => detail.id === id);
  const lost = lines.find(({ action }) => action === "connection needs reconnection");
  const connected = lines.find(({ action, at }) => /connect/.test(action) && lost && at < lost.at);
  if (!lost || !connected) return false;
  const days = (lost.at - connected.at) / dayMs;
  return days > 6.5 && days < 8;
}

function checkToken(site: Site, connection: Connection, now: number): Finding[] {
  const expiresAt = tokenExpiryOf(connection);
  if (expiresAt === null || connection.state === "needs reconnection" || expiresAt - now > soonMs) return [];
  const remedy = `Sign in again: cleancast sign-in ${nameOf(site)} ${connection.platform}`;
  return expiresAt <= now
    ? [error(`${labelOf(site, connection)}: its token expired on ${timeText(expiresAt)} UTC`, remedy)]
    : [
        warning(
          `${labelOf(site, connection)}: its token expires on ${timeText(expiresAt)} UTC and cannot be renewed`,
          remedy,
        ),
      ];
}

const overdueMs = 15 * minuteMs;

async function checkBacklog(
  site: Site,
  connection: Connection,
  { store, now }: StoreContext,
): Promise<Finding[]> {
  const { count, dueAt } = await store.health.measureBacklog(site.id, connection.id);
  if (dueAt === null || dueAt > now - overdueMs) return [];
  return [
    error(
      `${labelOf(site, connection)}: ${countOf(count, "delivery is", "deliveries are")} waiting, overdue since ${timeText(dueAt)} UTC`,
      "Check that the relay is running. 'cleancast delivery list --state queued' shows them and the last error of each.",
    ),
  ];
}

const unusedMs = 7 * dayMs;

async function checkUse(
  site: Site,
  connection: Connection,
  { store, now }: StoreContext,
): Promise<Finding[]> {
  if (connection.state !== "active" || now - connection.createdAt < unusedMs) return [];
  if ((await store.health.lastSentAt(site.id, connection.id)) !== null) return [];
  if ((await store.health.lastEventAt(site.id)) === null) return [];
  return [
    warning(
      `${labelOf(site, connection)}: events arrive, but none was ever accepted there`,
      `'cleancast delivery list ${nameOf(site)} --connection ${connection.id}' shows why; 'cleancast connection test ${connection.id}' tests it.`,
    ),
  ];
}

async function checkOnlySandbox(site: Site, { store, now }: StoreContext): Promise<Finding[]> {
  const isOnly =
    site.connections.length > 0 && site.connections.every(({ platform }) => platform === "sandbox");
  const lastAt = isOnly ? await store.health.lastEventAt(site.id) : null;
  if (lastAt === null || now - site.createdAt < dayMs) return [];
  return [
    note(
      `${nameOf(site)}: events arrive, but only the sandbox is connected, so nothing is sent`,
      `cleancast connect ${nameOf(site)} PLATFORM name=value …`,
    ),
  ];
}
