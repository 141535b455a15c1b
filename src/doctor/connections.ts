// Checks each connection: its state, its token, its backlog, and whether anything was ever accepted.

import { readVerificationState, whySendsNothing } from "../delivery/verify.ts";
import { connectHint, reconnectHint } from "../sites/connectionHints.ts";
import { tokenExpiryOf } from "../sites/connectionSettings.ts";
import type { Connection, Site } from "../sites/directory.ts";
import { countOf } from "../kernel/text.ts";
import { dayMs, minuteMs } from "../kernel/time.ts";
import {
  error,
  nameOf,
  note,
  ok,
  soonMs,
  timeText,
  warning,
  whereReached,
  type AsyncFindings,
  type Findings,
  type StoreContext,
} from "./finding.ts";

export async function* checkConnections(context: StoreContext): AsyncFindings {
  for (const { platform, isReadable } of await context.store.platformSignIns.listApps())
    if (!isReadable)
      yield error(
        `the OAuth app for ${platform} cannot be read: its row in the database is damaged`,
        `cleancast oauth app set ${platform} client_id=… client_secret=@file`,
      );
  // Sites whose rows are out of reach are reported among the sites.
  for (const site of context.directory.sites()) yield* whereReached(context, () => checkSite(site, context));
}

async function* checkSite(site: Site, context: StoreContext): AsyncFindings {
  for (const connection of site.connections) {
    yield* checkState(site, connection, context);
    yield* checkToken(site, connection, context.now);
    yield* checkBacklog(site, connection, context);
    yield* checkUse(site, connection, context);
    yield* checkVerification(site, connection, context);
  }
  yield* checkOnlySandbox(site, context);
}

const labelOf = (site: Site, { platform, id }: Connection) => `${nameOf(site)}: ${platform} (${id})`;

async function* checkState(site: Site, connection: Connection, context: StoreContext): AsyncFindings {
  if (connection.state === "active") return;
  if (connection.unreadable) {
    yield error(
      `${labelOf(site, connection)} cannot be read: its row in the database is damaged (${connection.unreadable.join(", ")})`,
      `Deliveries wait. Connect it again: ${connectHint(nameOf(site), connection.platform)}`,
    );
    return;
  }
  const why = connection.stateReason ? `: ${connection.stateReason}` : "";
  const what = `${labelOf(site, connection)} ${connection.state}${why}`;
  if (connection.state === "paused") yield warning(what, `cleancast connection resume ${connection.id}`);
  else if (await hasExpiredAfterAWeek(site, connection, context))
    yield error(
      what,
      'The sign-in lasted seven days, as Google\'s do while the OAuth app is in "Testing": publish the app in the Google Cloud console, then sign in again.',
    );
  else yield error(what, reconnectHint(connection, nameOf(site)));
}

const connectActions = ["connection added", "connection changed"];

/** Google revokes the refresh tokens of unpublished apps after a week. */
async function hasExpiredAfterAWeek(
  site: Site,
  { id, platform, settings }: Connection,
  { store }: StoreContext,
): Promise<boolean> {
  if (!["google_ads", "ga4"].includes(platform) || !settings.refresh_token) return false;
  const lines = (await store.audit.list(site.id, 200)).filter(({ detail }) => detail.id === id);
  const lost = lines.find(({ action }) => action === "connection needs reconnection");
  const connected = lines.find(({ action, at }) => connectActions.includes(action) && lost && at < lost.at);
  if (!lost || !connected) return false;
  const days = (lost.at - connected.at) / dayMs;
  return days > 6.5 && days < 8;
}

function* checkToken(site: Site, connection: Connection, now: number): Findings {
  const expiresAt = tokenExpiryOf(connection);
  if (expiresAt === null || connection.state === "needs reconnection" || expiresAt - now > soonMs) return;
  const remedy = reconnectHint(connection, nameOf(site));
  const name = `${labelOf(site, connection)}: its token`;
  if (expiresAt <= now) yield error(`${name} expired on ${timeText(expiresAt)} UTC`, remedy);
  else yield warning(`${name} expires on ${timeText(expiresAt)} UTC and cannot be renewed`, remedy);
}

const overdueMs = 15 * minuteMs;

async function* checkBacklog(site: Site, connection: Connection, { store, now }: StoreContext): AsyncFindings {
  const { count, dueAt } = await store.health.measureBacklog(site.id, connection.id);
  if (dueAt === null || dueAt > now - overdueMs) return;
  yield error(
    `${labelOf(site, connection)}: ${countOf(count, "delivery is", "deliveries are")} waiting, overdue since ${timeText(dueAt)} UTC`,
    "Check that the relay is running. 'cleancast delivery list --state queued' shows them and the last error of each.",
  );
}

const unusedMs = 7 * dayMs;

async function* checkUse(site: Site, connection: Connection, { store, now }: StoreContext): AsyncFindings {
  if (connection.state !== "active" || now - connection.createdAt < unusedMs) return;
  if ((await store.health.lastSentAt(site.id, connection.id)) !== null) return;
  if ((await store.health.lastEventAt(site.id)) === null) return;
  yield warning(
    `${labelOf(site, connection)}: events arrive, but none was ever accepted there`,
    `'cleancast delivery list ${nameOf(site)} --connection ${connection.id}' shows why; 'cleancast connection test ${connection.id}' tests it.`,
  );
}

/** Other states are reported above. A platform that cannot be asked is verified by its first conversion. */
async function* checkVerification(site: Site, connection: Connection, { store, now }: StoreContext): AsyncFindings {
  const { platform, id } = connection;
  if (connection.state !== "active") return;
  const sendsNothing = whySendsNothing(connection, now);
  if (sendsNothing)
    yield warning(
      `${labelOf(site, connection)} cannot send anything yet: ${sendsNothing}`,
      `Set what is missing: cleancast connection set ${id} NAME=VALUE. 'cleancast platform show ${platform}' lists the settings`,
    );
  const { state, reason, verifiedAt, checkedAt, isCheckable } = await readVerificationState(
    store,
    connection,
    await store.health.lastSentAt(site.id, id),
  );
  const label = labelOf(site, connection);
  if (state === "verified" && verifiedAt !== null) return yield ok(`${label}: verified on ${timeText(verifiedAt)} UTC`);
  if (!isCheckable) return;
  const last = verifiedAt === null ? "" : ` (last verified on ${timeText(verifiedAt)} UTC)`;
  const level = checkedAt === null ? note : warning;
  yield level(`${label} is not verified: ${reason}${last}`, `cleancast connection verify ${id}`);
}

async function* checkOnlySandbox(site: Site, { store, now }: StoreContext): AsyncFindings {
  const isOnly = site.connections.length > 0 && site.connections.every(({ platform }) => platform === "sandbox");
  const lastAt = isOnly ? await store.health.lastEventAt(site.id) : null;
  if (lastAt === null || now - site.createdAt < dayMs) return;
  yield note(
    `${nameOf(site)}: events arrive, but only the sandbox is connected, so nothing is sent`,
    "'cleancast platform list' shows the platforms, 'cleancast platform show meta' how to connect one.",
  );
}
