// What people do to connections. Each function checks its input, says in one sentence what is wrong with it, and leaves
// an audit line.

import { shortId } from "../ids.ts";
import { platformOf, platforms } from "../platforms/index.ts";
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
