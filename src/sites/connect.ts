// What people do to connections. Each function checks its input, says in one sentence what is wrong with it, and leaves
// an audit line.

import { shortId } from "../kernel/ids.ts";
import { platformOf, platforms } from "../platforms/index.ts";
import type { Platform } from "../platforms/platform.ts";
import {
  checkAddresses,
  checkRequired,
  checkSettings,
  defaultsOf,
  withChanges,
} from "./connectionSettings.ts";
import type { Connection, Site } from "./directory.ts";
import { type By, Missing, Refusal } from "../kernel/refusal.ts";
import { change, type Desk } from "./manage.ts";

/** `events` null is every event; left out, they stay as they are. */
export type Wanted = { settings: Record<string, string>; events?: readonly string[] | null | undefined };
export type Checker = { checkAddress: (url: string) => string | null };
export type Connected = { connection: Connection; isNew: boolean; released: number };

/** As people write it on a command line: `events` is a setting among the others. */
export async function connect(
  desk: Desk,
  site: Site,
  platformId: string,
  given: Record<string, string>,
  by: By & Checker,
): Promise<Connected> {
  const { events, ...settings } = given;
  return connectPlatform(desk, site, platformId, { settings, events: events?.split(",") }, by);
}

/** Connects a platform, or changes the connection to the same account, and lets parked deliveries go. */
export async function connectPlatform(
  desk: Desk,
  site: Site,
  platformId: string,
  wanted: Wanted,
  by: By & Checker,
): Promise<Connected> {
  const platform = knownPlatform(platformId);
  const account = platform.account({
    ...defaultsOf(platform),
    ...checkSettings(platform, wanted.settings),
  });
  const existing = site.connections.find((one) => one.platform === platformId && one.account === account);
  const planned = planConnection(site, platform, existing, wanted, by);
  // Who changes a paused connection did not ask for it to send again.
  const state = existing?.state === "paused" ? "paused" : "active";
  return save(desk, platform, existing, { ...planned, state, stateReason: null }, by);
}

/** Changes a connection; it stays the one to its account. */
export async function changeConnection(
  desk: Desk,
  site: Site,
  existing: Connection,
  wanted: Wanted,
  by: By & Checker,
): Promise<Connected> {
  const platform = knownPlatform(existing.platform);
  const planned = planConnection(site, platform, existing, wanted, by);
  checkAccount(platform, existing, wanted.settings);
  // Which events go, and how fields are filled, says nothing about credentials that were refused.
  const isMended =
    existing.state === "needs reconnection" &&
    platform.settings.some(({ name }) => wanted.settings[name] !== undefined);
  const next = isMended ? ({ ...planned, state: "active", stateReason: null } as const) : planned;
  return save(desk, platform, existing, next, by);
}

/** A connection as it would be with the changes; nothing is saved. */
export function planConnection(
  site: Site,
  platform: Platform,
  existing: Connection | undefined,
  { settings: given, events }: Wanted,
  { now, checkAddress }: By & Checker,
): Connection {
  // Who connects again to change one thing keeps the others.
  const settings = withChanges(platform, existing?.settings ?? {}, given);
  checkRequired(platform, settings);
  checkAddresses(platform, settings, checkAddress);
  return {
    siteId: site.id,
    id: existing?.id ?? shortId(),
    platform: platform.id,
    account: existing?.account ?? platform.account(settings),
    settings,
    events: events === undefined ? (existing?.events ?? null) : readEvents(events),
    state: existing?.state ?? "active",
    stateReason: existing?.stateReason ?? null,
    createdAt: existing?.createdAt ?? now,
  };
}

async function save(
  { store, directory }: Desk,
  platform: Platform,
  existing: Connection | undefined,
  connection: Connection,
  by: By,
): Promise<Connected> {
  const { siteId, id, account } = connection;
  const secrets = new Set(
    platform.settings.filter((setting) => setting.secret || setting.address).map((setting) => setting.name),
  );
  const action = existing ? "connection changed" : "connection added";
  const line = change(siteId, action, { id, platform: platform.id }, by);
  await store.configuration.saveConnection(line, connection, secrets).catch(async (error: unknown) => {
    await directory.refresh();
    const others = directory.site(siteId)?.connections ?? [];
    const rival = others.find((one) => one.platform === platform.id && one.account === account);
    if (rival && rival.id !== id)
      throw new Refusal("platform", "Somebody connected the same account at this moment. Look again.");
    throw error;
  });
  await directory.refresh();
  const goesOn = existing && connection.state === "active";
  if (existing?.state === "needs reconnection" && connection.state !== existing.state)
    await store.alerts.end(siteId, id, ["needs reconnection"], by.now);
  const released = goesOn ? await store.deliveries.releaseParked(siteId, id, by.now) : 0;
  return { connection, isNew: !existing, released };
}

export function knownPlatform(id: string): Platform {
  const platform = platformOf(id);
  if (platform) return platform;
  const known = platforms.map((one) => one.id).join(", ");
  throw new Missing("platform", `There is no platform ${id}. Known: ${known}.`);
}

/** Deliveries, and what the platform knows as sent, belong to the account: another one is another connection. */
function checkAccount(platform: Platform, existing: Connection, given: Record<string, string>): void {
  const accountWith = (changes: Record<string, string>) =>
    platform.account(withChanges(platform, existing.settings, changes));
  if (accountWith(given) === existing.account) return;
  const changed = Object.entries(given);
  const guilty = changed.find(([name, value]) => accountWith({ [name]: value }) !== existing.account);
  const name = guilty?.[0] ?? changed[0]?.[0] ?? "settings";
  const label = platform.settings.find((one) => one.name === name)?.label ?? name;
  throw new Refusal(name, `${label} says which account this is: connect it anew instead.`);
}

/** `all`, or nothing, is every event. */
function readEvents(events: readonly string[] | null): string[] | null {
  const names = [...new Set(events?.map((name) => name.trim().toLowerCase()))].filter(Boolean);
  return names.length === 0 || names.includes("all") ? null : names;
}

/** A connection of any of the given sites. */
export function findConnection(sites: Iterable<Site>, id: string): Connection {
  for (const site of sites) {
    const connection = site.connections.find((one) => one.id === id);
    if (connection) return connection;
  }
  const sentence = `There is no connection ${id}.`;
  throw new Missing("connection", sentence, `${sentence} 'cleancast connection list' shows their ids.`);
}

/** Ends a connection: what still waits for it ends as skipped, and the log keeps its history. */
export async function disconnect({ store, directory }: Desk, connection: Connection, by: By): Promise<void> {
  const { siteId, id, platform } = connection;
  await store.configuration.removeConnection(change(siteId, "connection removed", { id, platform }, by), id);
  await directory.refresh();
  await store.alerts.end(siteId, id, ["needs reconnection", "success rate", "queue"], by.now);
  const outcome = { state: "skipped", reason: "disconnected" } as const;
  await store.deliveries.endPending({ siteId, connectionId: id }, outcome, by.now);
}

type Named = Pick<Connection, "siteId" | "id">;

export async function pause({ store, directory }: Desk, { siteId, id }: Named, by: By): Promise<void> {
  const line = change(siteId, "connection paused", { id }, by);
  await store.configuration.setConnectionState(line, id, "paused", null);
  await directory.refresh();
  await store.alerts.end(siteId, id, ["needs reconnection"], by.now);
}

export async function resume({ store, directory }: Desk, { siteId, id }: Named, by: By): Promise<number> {
  const line = change(siteId, "connection resumed", { id }, by);
  await store.configuration.setConnectionState(line, id, "active", null);
  await directory.refresh();
  await store.alerts.end(siteId, id, ["needs reconnection"], by.now);
  return store.deliveries.releaseParked(siteId, id, by.now);
}
