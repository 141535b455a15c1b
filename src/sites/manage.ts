// What people do to sites, keys and connections. Each function checks its input, says in one sentence what is wrong
// with it, and leaves an audit line.

import type { Mode } from "../event.ts";
import { shortId } from "../ids.ts";
import { platformOf, platforms } from "../platforms/index.ts";
import type { Platform } from "../platforms/platform.ts";
import type { Change } from "../store/configuration.ts";
import type { Store } from "../store/store.ts";
import { isUsable, type Connection, type Directory, type InboundKey, type Site } from "./directory.ts";
import { readHost } from "./hosts.ts";
import { makeKey } from "./keys.ts";
import { readSettings, SettingFault, type SiteSettings } from "./settings.ts";

/** Something that the person who asked can put right. */
export class Refusal extends Error {
  readonly field: string;
  constructor(field: string, message: string) {
    super(message);
    this.field = field;
  }
}

export type By = { actor: string; now: number };
type Desk = { store: Store; directory: Directory };

const rotationOverlapMs = 24 * 3_600_000;

function change(siteId: string, action: string, detail: Record<string, unknown>, by: By): Change {
  return { siteId, actor: by.actor, action, detail, at: by.now };
}

/** A site by its id or by one of its hosts. */
export function findSite({ directory }: Pick<Desk, "directory">, text: string): Site {
  const site = directory.site(text) ?? directory.siteOfHost(readHost(text) ?? "");
  if (!site) throw new Refusal("site", `There is no site ${text}. 'cleancast site list' shows them.`);
  return site;
}

/** A host name that no site has yet. */
function freeHost(directory: Directory, text: string): string {
  const host = readHost(text);
  if (!host) throw new Refusal("host", `${text} is not a host name. Write it like shop.example.com.`);
  const owner = directory.siteOfHost(host);
  if (owner) throw new Refusal("host", `${host} belongs to site ${owner.id} already.`);
  return host;
}

export async function addSite({ store, directory }: Desk, hostText: string, by: By): Promise<Site> {
  const host = freeHost(directory, hostText);
  const id = shortId();
  const site = { name: host, settings: {}, hosts: [host] };
  await store.configuration.addSite(change(id, "site added", { host }, by), site);
  await directory.refresh();
  return findSite({ directory }, id);
}

export async function addHost(
  { store, directory }: Desk,
  site: Site,
  hostText: string,
  by: By,
): Promise<Site> {
  const host = freeHost(directory, hostText);
  await store.configuration.addHost(change(site.id, "host added", { host }, by), host);
  await directory.refresh();
  return findSite({ directory }, site.id);
}

export async function setSite(
  { store, directory }: Desk,
  site: Site,
  changes: Record<string, string>,
  by: By,
): Promise<SiteSettings> {
  const changed = readSettings(changes);
  if (changed instanceof SettingFault) throw new Refusal("setting", changed.message);
  const line = change(site.id, "settings changed", changes, by);
  await store.configuration.changeSettings(line, (stored) => ({ ...stored, ...changed }));
  await directory.refresh();
  return findSite({ directory }, site.id).settings;
}

/** Makes a key; the first one of a site opens its inbound door. */
export async function addKey(
  { store, directory }: Desk,
  site: Site,
  wanted: { name: string; mode: Mode; expiresAt: number | null },
  by: By,
): Promise<{ id: string; key: string; openedInbound: boolean }> {
  const name = wanted.name.trim();
  if (!name || name.length > 100) throw new Refusal("name", "A key needs a name of at most 100 characters.");
  if (wanted.expiresAt !== null && wanted.expiresAt <= by.now) {
    throw new Refusal("expires", "The expiry lies in the past.");
  }
  const { key, hash, prefix } = makeKey(wanted.mode);
  const openedInbound = site.keys.length === 0 && !site.settings.inbound;
  const id = shortId();
  await store.configuration.addKey(
    change(site.id, "key added", { id, name, prefix, openedInbound }, by),
    {
      siteId: site.id,
      id,
      name,
      mode: wanted.mode,
      hash,
      prefix,
      createdAt: by.now,
      expiresAt: wanted.expiresAt,
      revokedAt: null,
    },
    openedInbound ? { inbound: true } : {},
  );
  await directory.refresh();
  return { id, key, openedInbound };
}

export function findKey({ directory }: Pick<Desk, "directory">, id: string): { site: Site; key: InboundKey } {
  for (const site of directory.sites()) {
    const key = site.keys.find((one) => one.id === id);
    if (key) return { site, key };
  }
  throw new Refusal("key", `There is no key ${id}. 'cleancast key list' shows their ids.`);
}

export async function revokeKey({ store, directory }: Desk, id: string, by: By): Promise<void> {
  const { site, key } = findKey({ directory }, id);
  await store.configuration.revokeKey(change(site.id, "key revoked", { id, name: key.name }, by), id);
  await directory.refresh();
}

/** A new key in place of the old one, which lives a day more so that senders can change over. */
export async function rotateKey(
  { store, directory }: Desk,
  id: string,
  expiresAt: number | null,
  by: By,
): Promise<{ id: string; key: string; oldExpiresAt: number }> {
  const { site, key: old } = findKey({ directory }, id);
  if (!isUsable(old, by.now)) {
    const state = old.revokedAt === null ? "has expired" : "is revoked";
    throw new Refusal("key", `Key ${id} ${state}; add a new one instead.`);
  }
  const { key, hash, prefix } = makeKey(old.mode);
  const oldExpiresAt = Math.min(old.expiresAt ?? Number.POSITIVE_INFINITY, by.now + rotationOverlapMs);
  const fresh = { ...old, id: shortId(), hash, prefix, createdAt: by.now, expiresAt };
  await store.configuration.rotateKey(
    change(site.id, "key rotated", { id, name: old.name, newId: fresh.id }, by),
    id,
    oldExpiresAt,
    fresh,
  );
  await directory.refresh();
  return { id: fresh.id, key, oldExpiresAt };
}

/** Connects a platform, or changes the connection to the same account, and lets parked deliveries go. */
export async function connect(
  { store, directory }: Desk,
  site: Site,
  platformId: string,
  given: Record<string, string>,
  by: By & { checkAddress: (url: string) => string | null },
): Promise<{ connection: Connection; isNew: boolean; released: number }> {
  const platform = platformOf(platformId);
  if (!platform) {
    const known = platforms.map((one) => one.id).join(", ");
    throw new Refusal("platform", `There is no platform ${platformId}. Known: ${known}.`);
  }
  const { events, ...rest } = given;
  const settings = checkSettings(platform, rest);
  if (platform.customerAddress && settings.url) {
    const fault = by.checkAddress(settings.url);
    if (fault) throw new Refusal("url", `url ${fault}`);
  }
  const account = platform.account(settings);
  const existing = site.connections.find((one) => one.platform === platformId && one.account === account);
  // Who connects again to change one thing keeps the others; a blank value takes one away.
  for (const [name, value] of Object.entries(existing?.settings ?? {}))
    if (!(name in rest)) settings[name] = value;
  const connection: Connection = {
    siteId: site.id,
    id: existing?.id ?? shortId(),
    platform: platformId,
    account,
    settings,
    events: events === undefined ? (existing?.events ?? null) : readEvents(events),
    state: "active",
    stateReason: null,
    createdAt: existing?.createdAt ?? by.now,
  };
  const secrets = new Set(
    platform.settings.filter((setting) => setting.secret || setting.address).map((setting) => setting.name),
  );
  const action = existing ? "connection changed" : "connection added";
  await store.configuration.saveConnection(
    change(site.id, action, { id: connection.id, platform: platformId }, by),
    connection,
    secrets,
  );
  await directory.refresh();
  const released = existing ? await store.deliveries.releaseParked(site.id, connection.id, by.now) : 0;
  return { connection, isNew: !existing, released };
}

/** `all`, or nothing, is every event. */
function readEvents(text: string): string[] | null {
  const names = [...new Set(text.split(",").map((name) => name.trim().toLowerCase()))].filter(Boolean);
  return names.length === 0 || names.includes("all") ? null : names;
}

function checkSettings(platform: Platform, given: Record<string, string>): Record<string, string> {
  const known = platform.settings.map((setting) => setting.name);
  for (const name of Object.keys(given)) {
    if (!known.includes(name)) {
      throw new Refusal(
        name,
        `${name} is not a setting of ${platform.id}. Known: ${[...known, "events"].join(", ")}.`,
      );
    }
  }
  const settings: Record<string, string> = {};
  for (const setting of platform.settings) {
    const value = given[setting.name]?.trim() || setting.default;
    if (value === undefined) {
      if (setting.required) throw new Refusal(setting.name, `${setting.name} is required: ${setting.help}`);
      continue;
    }
    const fault = setting.check?.(value);
    if (fault) throw new Refusal(setting.name, `${setting.name} ${fault}.`);
    settings[setting.name] = value;
  }
  return settings;
}

export function findConnection({ directory }: Pick<Desk, "directory">, id: string): Connection {
  for (const site of directory.sites()) {
    const connection = site.connections.find((one) => one.id === id);
    if (connection) return connection;
  }
  throw new Refusal(
    "connection",
    `There is no connection ${id}. 'cleancast connection list' shows their ids.`,
  );
}

/** Ends a connection: what still waits for it ends as skipped, and the log keeps its history. */
export async function disconnect({ store, directory }: Desk, id: string, by: By): Promise<void> {
  const connection = findConnection({ directory }, id);
  const { siteId, platform } = connection;
  await store.configuration.removeConnection(change(siteId, "connection removed", { id, platform }, by), id);
  await directory.refresh();
  await store.deliveries.endWaiting(siteId, id, "skipped", "disconnected", by.now);
}

export async function pause({ store, directory }: Desk, id: string, by: By): Promise<void> {
  const { siteId } = findConnection({ directory }, id);
  await store.configuration.setConnectionState(
    change(siteId, "connection paused", { id }, by),
    id,
    "paused",
    null,
  );
  await directory.refresh();
}

export async function resume({ store, directory }: Desk, id: string, by: By): Promise<number> {
  const { siteId } = findConnection({ directory }, id);
  await store.configuration.setConnectionState(
    change(siteId, "connection resumed", { id }, by),
    id,
    "active",
    null,
  );
  await directory.refresh();
  return store.deliveries.releaseParked(siteId, id, by.now);
}
