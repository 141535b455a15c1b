// Changes that people make to connections. Each function checks its input, refuses it with one sentence, and writes an
// audit line.

import { newSigningSecret, shortId } from "../kernel/ids.ts";
import { dayMs } from "../kernel/time.ts";
import { platformOf, platforms } from "../platforms/index.ts";
import type { Platform } from "../platforms/platform.ts";
import { waitsForSetting } from "../platforms/shared/batchRejection.ts";
import { readSecrets, writeSecrets } from "../platforms/shared/signature.ts";
import { checkAddresses, checkRequired, checkSettings, checkValues, defaultsOf, withChanges } from "./connectionSettings.ts";
import type { Connection, Site } from "./directory.ts";
import { say } from "../kernel/messages/message.ts";
import { type By, checkAll, Missing, missing, Refusal } from "../kernel/refusal.ts";
import { auditLine, type SiteContext } from "./manage.ts";

/** Every event of a site is planned for, and sent to, all of its connections. */
export const maxConnections = 100;

/** `events` null means every event; without it the selection does not change. */
export type Wanted = { settings: Record<string, string>; events?: readonly string[] | null | undefined };
type AddressCheck = { checkAddress: (url: string) => string | null };
/** `checkChange` throws a refusal where a connection must stay as it is. */
type Checks = AddressCheck & {
  checkChange?: ((existing: Connection, changed: Connection) => Promise<void>) | undefined;
};
/** `newSecret` is the signing secret if this change created it: it is shown this once. */
type Connected = {
  connection: Connection;
  isNew: boolean;
  released: number;
  newSecret: string | null;
};

/** For the command line, where `events` is one of the settings. */
export async function connect(
  context: SiteContext,
  site: Site,
  platformId: string,
  given: Record<string, string>,
  by: By & Checks,
): Promise<Connected> {
  const { events, ...settings } = given;
  return connectPlatform(context, site, platformId, { settings, events: events?.split(",") }, by);
}

/** Connects a platform, or changes the connection to the same account, and releases parked deliveries. */
export async function connectPlatform(
  context: SiteContext,
  site: Site,
  platformId: string,
  wanted: Wanted,
  by: By & Checks,
): Promise<Connected> {
  const platform = knownPlatform(platformId);
  const account = platform.account({
    ...defaultsOf(platform),
    ...checkSettings(platform, wanted.settings),
  });
  const existing = site.connections.find((one) => one.platform === platformId && one.account === account);
  if (!existing && site.connections.length >= maxConnections)
    throw new Refusal("platform", say("too_many_connections", { max: maxConnections }));
  const planned = planConnection(site, platform, existing, wanted, by);
  if (existing) await by.checkChange?.(existing, planned);
  // A change to a paused connection does not resume it.
  const state = existing?.state === "paused" ? "paused" : "active";
  const saved = await save(context, platform, existing, { ...planned, state, stateReason: null }, by);
  return { ...saved, newSecret: newSecretOf(platform, planned, existing, wanted.settings) };
}

/** Changes a connection; its account stays the same. */
export async function changeConnection(
  context: SiteContext,
  site: Site,
  existing: Connection,
  wanted: Wanted,
  by: By & Checks,
): Promise<Connected> {
  const platform = knownPlatform(existing.platform);
  const planned = planConnection(site, platform, existing, wanted, by);
  checkAccount(platform, existing, wanted.settings);
  await by.checkChange?.(existing, planned);
  // A change of events or field mappings does not renew credentials that were refused.
  const isReconnected =
    existing.state === "needs reconnection" && platform.settings.some(({ name }) => wanted.settings[name] !== undefined);
  const next = isReconnected ? ({ ...planned, state: "active", stateReason: null } as const) : planned;
  const saved = await save(context, platform, existing, next, by);
  return { ...saved, newSecret: newSecretOf(platform, planned, existing, wanted.settings) };
}

/** Builds the connection with the changes applied; saves nothing. */
export function planConnection(
  site: Pick<Site, "id">,
  platform: Platform,
  existing: Connection | undefined,
  { settings: given, events }: Wanted,
  { now, checkAddress }: By & AddressCheck,
): Connection {
  if (events === undefined && existing?.unreadable?.includes("events"))
    throw new Refusal(
      "events",
      say("event_selection_unreadable"),
      `The event selection of connection ${existing.id} cannot be read: give events=all, or events=a,b.`,
    );
  // Connecting again with one setting keeps the others.
  const settings = withSigningSecret(platform, withChanges(platform, existing?.settings ?? {}, given));
  checkAll(
    () => checkRequired(platform, settings),
    () => checkValues(platform, settings),
    () => checkAddresses(platform, settings, checkAddress),
  );
  return {
    siteId: site.id,
    id: existing?.id ?? shortId(),
    platform: platform.id,
    account: existing?.account ?? platform.account(settings),
    settings,
    events: events === undefined ? (existing?.events ?? null) : readEvents(events),
    state: existing?.state ?? "active",
    stateReason: existing?.unreadable ? null : (existing?.stateReason ?? null),
    createdAt: existing?.createdAt ?? now,
  };
}

const signingName = (platform: Platform) => platform.settings.find(({ signing }) => signing)?.name;

/** Creates the signing secret where the platform signs its requests and none was given. */
function withSigningSecret(platform: Platform, settings: Record<string, string>): Record<string, string> {
  const name = signingName(platform);
  return name && settings[name] === undefined ? { ...settings, [name]: newSigningSecret() } : settings;
}

/** A secret that the caller gave is not repeated. */
function newSecretOf(
  platform: Platform,
  { settings }: Connection,
  existing: Connection | undefined,
  given: Record<string, string>,
): string | null {
  const name = signingName(platform);
  if (!name || given[name]?.trim() || existing?.settings[name] === settings[name]) return null;
  return settings[name] ?? null;
}

/** Creates a new signing secret, used at once. For one more day, requests are signed with the old one too. */
export async function rotateSigningSecret(
  context: SiteContext,
  existing: Connection,
  by: By,
): Promise<{ secret: string; oldUntil: number }> {
  const platform = knownPlatform(existing.platform);
  const name = signingName(platform);
  if (!name) throw new Refusal("connection", say("platform_does_not_sign", { platform: platform.name }));
  const saved = existing.settings[name];
  if (existing.unreadable || saved === undefined) throw unreadableConnection(existing.id);
  const secret = newSigningSecret();
  const oldUntil = by.now + dayMs;
  const previous = { secret: readSecrets(saved).current, until: oldUntil };
  const settings = { ...existing.settings, [name]: writeSecrets({ current: secret, previous }) };
  await save(context, platform, existing, { ...existing, settings }, by, "signing secret rotated");
  return { secret, oldUntil };
}

async function save(
  { store, directory }: SiteContext,
  platform: Platform,
  existing: Connection | undefined,
  connection: Connection,
  by: By,
  action = existing ? "connection changed" : "connection added",
): Promise<Omit<Connected, "newSecret">> {
  const { siteId, id, account } = connection;
  const secrets = new Set(
    platform.settings.filter((setting) => setting.secret || setting.address).map((setting) => setting.name),
  );
  const changes = action === "connection changed" && existing ? auditedChanges(existing, connection, secrets) : {};
  const line = auditLine(siteId, action, { id, platform: platform.id, ...changes }, by);
  await store.configuration.saveConnection(line, connection, secrets).catch(async (error: unknown) => {
    await directory.refresh();
    const others = directory.site(siteId)?.connections ?? [];
    const sameAccount = others.find((one) => one.platform === platform.id && one.account === account);
    if (sameAccount && sameAccount.id !== id) throw new Refusal("platform", say("account_just_connected"));
    throw error;
  });
  await directory.refresh();
  const isResumed = existing && connection.state === "active";
  // At once: a node that sees the active connection releases what is parked, too, and this one could not count it any more.
  const released = isResumed ? await store.deliveries.releaseParked(siteId, id, by.now) : 0;
  if (existing?.state === "needs reconnection" && connection.state !== existing.state)
    await store.alerts.end(siteId, id, ["needs reconnection"], by.now);
  if (isResumed) await store.deliveries.hasten(siteId, id, waitsForSetting, by.now);
  return { connection, isNew: !existing, released };
}

/** A template may be long. */
const maxAudited = 2000;
/** That of version 0.3.0. */
const formerMaxAudited = 200;

/** True for a value in the log of which the end may be missing. */
export const mayBeCut = (value: unknown) =>
  typeof value === "string" && (value.length === maxAudited || value.length === formerMaxAudited);

/** Returns what changed, with the values before. Of a secret or an address, the log says only that it changed. */
function auditedChanges(existing: Connection, connection: Connection, secrets: ReadonlySet<string>): Record<string, unknown> {
  const settings: Record<string, unknown> = {};
  const before: Record<string, unknown> = {};
  const cut = (value: string | undefined) => value?.slice(0, maxAudited) ?? null;
  for (const name of new Set([...Object.keys(existing.settings), ...Object.keys(connection.settings)])) {
    const [old, fresh] = [existing.settings[name], connection.settings[name]];
    if (old === fresh) continue;
    if (secrets.has(name)) {
      settings[name] = { secret: fresh === undefined ? "removed" : old === undefined ? "set" : "replaced" };
      continue;
    }
    settings[name] = cut(fresh);
    before[name] = cut(old);
  }
  for (const name of ["events", "state"] as const)
    if (JSON.stringify(existing[name]) !== JSON.stringify(connection[name])) {
      settings[name] = connection[name];
      before[name] = existing[name];
    }
  return { ...settings, ...(Object.keys(before).length > 0 ? { before } : {}) };
}

export function knownPlatform(id: string): Platform {
  const platform = platformOf(id);
  if (platform) return platform;
  const known = platforms.map((one) => one.id).join(", ");
  throw new Missing("platform", say("unknown_platform_of", { id, known }));
}

/** Deliveries belong to the account, as do the events that the platform has: another account needs another connection. */
function checkAccount(platform: Platform, existing: Connection, given: Record<string, string>): void {
  const accountWith = (changes: Record<string, string>) => platform.account(withChanges(platform, existing.settings, changes));
  if (accountWith(given) === existing.account) return;
  const changed = Object.entries(given);
  const identifying = changed.find(([name, value]) => accountWith({ [name]: value }) !== existing.account);
  const name = identifying?.[0] ?? changed[0]?.[0] ?? "settings";
  const label = platform.settings.find((one) => one.name === name)?.label ?? name;
  if (existing.unreadable) throw new Refusal(name, say("settings_unreadable"));
  throw new Refusal(name, say("setting_identifies_account", { setting: label }));
}

/** An empty list, or `all`, means every event. */
function readEvents(events: readonly string[] | null): string[] | null {
  const names = [...new Set(events?.map((name) => name.trim().toLowerCase()))].filter(Boolean);
  return names.length === 0 || names.includes("all") ? null : names;
}

/** Finds a connection of any of the given sites. */
export function findConnection(sites: Iterable<Site>, id: string): Connection {
  for (const site of sites) {
    const connection = site.connections.find((one) => one.id === id);
    if (connection) return connection;
  }
  throw missing("connection", id);
}

/** Removes a connection: deliveries that wait for it end as skipped, and the log keeps its history. */
export async function disconnect({ store, directory }: SiteContext, connection: Connection, by: By): Promise<void> {
  const { siteId, id, platform } = connection;
  const waiting = await store.deletions.waitingOfConnection(siteId, id);
  await store.configuration.removeConnection(auditLine(siteId, "connection removed", { id, platform, waiting }, by), id);
  await store.deletions.add("connection");
  await directory.refresh();
  await store.alerts.end(siteId, id, ["needs reconnection", "success rate", "queue"], by.now);
  const outcome = { state: "skipped", reason: "disconnected" } as const;
  await store.deliveries.endPending({ siteId, connectionId: id }, outcome, by.now);
}

type ConnectionKey = Pick<Connection, "siteId" | "id" | "unreadable">;

/** Refuses to send through a connection whose row is damaged. */
export const unreadableConnection = (id: string) => new Refusal("connection", say("connection_unreadable", { id }));

export async function pause({ store, directory }: SiteContext, { siteId, id }: ConnectionKey, by: By): Promise<void> {
  const line = auditLine(siteId, "connection paused", { id }, by);
  await store.configuration.setConnectionState(line, id, "paused", null);
  await directory.refresh();
  await store.alerts.end(siteId, id, ["needs reconnection"], by.now);
}

export async function resume(
  { store, directory }: SiteContext,
  { siteId, id, unreadable }: ConnectionKey,
  by: By,
): Promise<number> {
  if (unreadable) throw unreadableConnection(id);
  const line = auditLine(siteId, "connection resumed", { id }, by);
  await store.configuration.setConnectionState(line, id, "active", null);
  await directory.refresh();
  const released = await store.deliveries.releaseParked(siteId, id, by.now);
  await store.alerts.end(siteId, id, ["needs reconnection"], by.now);
  return released;
}

/** A platform rejects a connection's credentials: nothing is sent there until the connection is reconnected. */
export async function markForReconnection(
  { store, directory }: SiteContext,
  { siteId, id, platform, settings }: Connection,
  reason: string,
  now: number,
): Promise<void> {
  // The connection may have new credentials already, and only the old ones were rejected.
  await directory.refresh();
  const current = directory.connection(siteId, id);
  if (current?.state !== "active" || JSON.stringify(current.settings) !== JSON.stringify(settings)) return;
  const action = "connection needs reconnection";
  const change = { siteId, actor: "relay", action, detail: { id, platform, reason }, at: now };
  await store.configuration.setConnectionState(change, id, "needs reconnection", reason);
  await directory.refresh();
}
