// Each connection: does it work, will it tomorrow, and does anything get away.

import { tokenEndOf } from "../observability/tokens.ts";
import type { Connection, Site } from "../sites/directory.ts";
import {
  dayMs,
  error,
  minuteMs,
  nameOf,
  note,
  timeText,
  warning,
  type Finding,
  type Patient,
} from "./finding.ts";

export async function checkConnections(patient: Patient): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const site of patient.directory.sites()) {
    for (const connection of site.connections) {
      findings.push(
        ...(await state(site, connection, patient)),
        ...token(site, connection, patient.now),
        ...(await backlog(site, connection, patient)),
        ...(await use(site, connection, patient)),
      );
    }
    findings.push(...(await onlySandbox(site, patient)));
  }
  return findings;
}

const called = (site: Site, { platform, id }: Connection) => `${nameOf(site)}: ${platform} (${id})`;

async function state(site: Site, connection: Connection, patient: Patient): Promise<Finding[]> {
  if (connection.state === "active") return [];
  const why = connection.stateReason ? `: ${connection.stateReason}` : "";
  const what = `${called(site, connection)} ${connection.state}${why}`;
  if (connection.state === "paused") return [warning(what, `cleancast connection resume ${connection.id}`)];
  const remedy = (await diedAfterAWeek(site, connection, patient))
    ? 'The sign-in lasted seven days, as Google\'s do while the OAuth app is in "Testing": publish the app in the Google Cloud console, then sign in again.'
    : `cleancast connect ${nameOf(site)} ${connection.platform} … with fresh credentials`;
  return [error(what, remedy)];
}

/** Google ends refresh tokens of apps that were not published after a week. */
async function diedAfterAWeek(
  site: Site,
  { id, platform, settings }: Connection,
  { store }: Patient,
): Promise<boolean> {
  if (!["google_ads", "ga4"].includes(platform) || !settings.refresh_token) return false;
  const lines = (await store.audit.list(site.id, 200)).filter(({ detail }) => detail.id === id);
  const died = lines.find(({ action }) => action === "connection needs reconnection");
  const born = lines.find(({ action, at }) => /connect/.test(action) && died && at < died.at);
  if (!died || !born) return false;
  const days = (died.at - born.at) / dayMs;
  return days > 6.5 && days < 8;
}

const soonMs = 14 * dayMs;

function token(site: Site, connection: Connection, now: number): Finding[] {
  const end = tokenEndOf(connection);
  if (end === null || connection.state === "needs reconnection" || end - now > soonMs) return [];
  const remedy = `Sign in again: cleancast sign-in ${nameOf(site)} ${connection.platform}`;
  return end <= now
    ? [error(`${called(site, connection)}: its token has ended on ${timeText(end)} UTC`, remedy)]
    : [
        warning(
          `${called(site, connection)}: its token ends on ${timeText(end)} UTC and cannot be renewed`,
          remedy,
        ),
      ];
}

const overdueMs = 15 * minuteMs;

async function backlog(site: Site, connection: Connection, { store, now }: Patient): Promise<Finding[]> {
  const { count, dueAt } = await store.health.measureBacklog(site.id, connection.id);
  if (dueAt === null || dueAt > now - overdueMs) return [];
  return [
    error(
      `${called(site, connection)}: ${count} deliveries wait, and could have gone since ${timeText(dueAt)} UTC`,
      "Is the relay running? 'cleancast delivery list --state queued' shows them, with what happened last.",
    ),
  ];
}

const unusedMs = 7 * dayMs;

async function use(site: Site, connection: Connection, { store, now }: Patient): Promise<Finding[]> {
  if (connection.state !== "active" || now - connection.createdAt < unusedMs) return [];
  if ((await store.health.lastSentAt(site.id, connection.id)) !== null) return [];
  if ((await store.health.lastEventAt(site.id)) === null) return [];
  return [
    warning(
      `${called(site, connection)}: events come, and none was ever accepted there`,
      `'cleancast delivery list ${nameOf(site)} --connection ${connection.id}' says why; 'cleancast connection test ${connection.id}' tries it.`,
    ),
  ];
}

async function onlySandbox(site: Site, { store, now }: Patient): Promise<Finding[]> {
  const isOnly =
    site.connections.length > 0 && site.connections.every(({ platform }) => platform === "sandbox");
  const lastAt = isOnly ? await store.health.lastEventAt(site.id) : null;
  if (lastAt === null || now - site.createdAt < dayMs) return [];
  return [
    note(
      `${nameOf(site)}: events come, and only the sandbox is connected: nothing leaves this machine`,
      `cleancast connect ${nameOf(site)} PLATFORM name=value …`,
    ),
  ];
}
