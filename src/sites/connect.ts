// What people do to connections. Each function checks its input, says in one sentence what is wrong with it, and leaves
// an audit line.

import { shortId } from "../ids.ts";
import { platformOf, platforms } from "../platforms/index.ts";
import { mappingFault } from "../platforms/mapping.ts";
import { nameFault, nameSetting } from "../platforms/names.ts";
import type { Platform } from "../platforms/platform.ts";
import type { Connection, Site } from "./directory.ts";
import { change, Refusal, type By, type Desk } from "./manage.ts";

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
  const chosen = checkSettings(platform, rest);
  const account = platform.account({ ...defaultsOf(platform), ...chosen });
  const existing = site.connections.find((one) => one.platform === platformId && one.account === account);
  // Who connects again to change one thing keeps the others; a blank value takes one away.
  const gone = replacedBy(chosen);
  const kept = Object.entries(existing?.settings ?? {}).filter(
    ([name]) => !(name in rest) && !gone.has(name),
  );
  const settings = { ...defaultsOf(platform), ...Object.fromEntries(kept), ...chosen };
  checkRequired(platform, settings);
  for (const [name, value] of platform.customerAddress ? Object.entries(settings) : []) {
    const fault = /^https?:\/\//i.test(value) && !name.startsWith("map.") ? by.checkAddress(value) : null;
    if (fault) throw new Refusal(name, `${name} ${fault}`);
  }
  const connection: Connection = {
    siteId: site.id,
    id: existing?.id ?? shortId(),
    platform: platformId,
    account,
    settings,
    events: events === undefined ? (existing?.events ?? null) : readEvents(events),
    // Who changes a paused connection did not ask for it to send again.
    state: existing?.state === "paused" ? "paused" : "active",
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
  const isActive = connection.state === "active";
  const released =
    existing && isActive ? await store.deliveries.releaseParked(site.id, connection.id, by.now) : 0;
  return { connection, isNew: !existing, released };
}

/** `all`, or nothing, is every event. */
function readEvents(text: string): string[] | null {
  const names = [...new Set(text.split(",").map((name) => name.trim().toLowerCase()))].filter(Boolean);
  return names.length === 0 || names.includes("all") ? null : names;
}

/** A new access token has nothing to do with the old one's renewal. */
function replacedBy(chosen: Record<string, string>): ReadonlySet<string> {
  return new Set(chosen.access_token === undefined ? [] : ["refresh_token", "expires_at"]);
}

function checkRequired(platform: Platform, settings: Record<string, string>): void {
  for (const { name, help, required } of platform.settings) {
    if (required && settings[name] === undefined) throw new Refusal(name, `${name} is required: ${help}`);
  }
  const { requires } = platform;
  if (!requires || requires.some((names) => names.every((name) => settings[name] !== undefined))) return;
  const sets = requires.map((names) => names.join(" and "));
  throw new Refusal(requires[0]?.[0] ?? "settings", `${platform.name} needs ${sets.join(", or ")}.`);
}

const defaultsOf = (platform: Platform): Record<string, string> =>
  Object.fromEntries(
    platform.settings.flatMap(({ name, default: value }) => (value === undefined ? [] : [[name, value]])),
  );

/** The given settings that are not blank, each checked. */
function checkSettings(platform: Platform, given: Record<string, string>): Record<string, string> {
  const settings: Record<string, string> = {};
  for (const [name, text] of Object.entries(given)) {
    const value = text.trim();
    const key = name.startsWith("event.") ? nameSetting(name.slice("event.".length)) : name;
    const fault = settingFault(platform, key, value);
    if (fault) throw new Refusal(name, `${name} ${fault}.`);
    if (value !== "") settings[key] = value;
  }
  return settings;
}

function settingFault(platform: Platform, name: string, value: string): string | null {
  if (name.startsWith("event.") && platform.events)
    return value === "" ? null : nameFault(value, platform.events);
  if (name.startsWith("map."))
    return value === "" ? null : mappingFault(name.slice("map.".length), value, platform.fields ?? []);
  const setting = platform.settings.find((one) => one.name === name);
  if (setting) return value === "" ? null : (setting.check?.(value) ?? null);
  const known = [
    ...platform.settings.map((one) => one.name),
    "events",
    ...(platform.events ? ["event.NAME"] : []),
    ...(platform.fields?.length ? ["map.FIELD"] : []),
  ];
  return `is not a setting of ${platform.id}. Known: ${known.join(", ")}`;
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
