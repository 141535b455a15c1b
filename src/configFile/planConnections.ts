// Plans the changes of a site's connections. A connection is found by its platform and account.

import { urlFault } from "../delivery/addresses.ts";
import { didYouMean, findNearest } from "../kernel/text.ts";
import { platformOf } from "../platforms/index.ts";
import { mapSetting, type Platform } from "../platforms/platform.ts";
import { usualEventOf } from "../platforms/shared/eventNames.ts";
import { usualEvents } from "../platforms/shared/usualEvents.ts";
import { isValueSetting } from "../platforms/valueRules.ts";
import { connectPlatform, disconnect, maxConnections, pause, planConnection, resume } from "../sites/connect.ts";
import { checkSettings, defaultsOf } from "../sites/connectionSettings.ts";
import type { Connection, Site } from "../sites/directory.ts";
import { findSite } from "../sites/manage.ts";
import { fieldText, type FileFault, type Path } from "./document.ts";
import { maxSuggestions } from "./issues.ts";
import {
  check,
  isSameSecret,
  mustBeReference,
  reconcile,
  shownSecret,
  type Change,
  type ChangedLine,
  type PlannedSite,
  type Planning,
} from "./planning.ts";
import type { ConnectionEntry } from "./schema.ts";

const usualEventNames = Object.keys(usualEvents);

export async function planConnections(
  planning: Planning,
  planned: PlannedSite,
  entries: readonly ConnectionEntry[],
): Promise<Change[]> {
  const { context } = planning;
  const wanted = new Map<string, ReadEntry>();
  for (const [i, entry] of entries.entries()) {
    await planning.rest();
    const path = [...planned.path, "connections", i];
    const read = readEntry(planning, planned.site, entry, path);
    if (!read) continue;
    const key = keyOf(read.connection);
    if (wanted.has(key)) planning.faults.push({ path, message: "is the same account as another connection of the site." });
    wanted.set(key, read);
  }
  return reconcile(planning, {
    limit: { max: maxConnections, path: [...planned.path, "connections"] },
    wanted,
    existing: (planned.site?.connections ?? []).map((one) => [keyOf(one), one]),
    plan: (read, existing) => changeOf(planning, planned.host, read, existing),
    remove(connection) {
      const what = nameOf(connection, planned.host);
      return {
        what,
        async loss() {
          const waiting = await context.store.deletions.waitingOfConnection(connection.siteId, connection.id);
          return `Removes the ${what} with its credentials; ${waiting.toLocaleString("en-US")} waiting deliveries are never sent.`;
        },
        run: () => disconnect(context, connection, context.by),
      };
    },
  });
}

const keyOf = ({ platform, account }: Connection) => JSON.stringify([platform, account]);

const nameOf = ({ platform, account }: Pick<Connection, "platform" | "account">, host: string) =>
  `connection ${[platform, shownAccount(platform, account)].filter(Boolean).join(" ")} of ${host}`;

/** The account of a platform whose address may contain a token is that address; a platform without accounts is its own. */
function shownAccount(platform: string, account: string): string {
  if (account === platform) return "";
  if (URL.canParse(account) && /^https?:/.test(account)) return `${new URL(account).origin}/…`;
  return platformOf(platform)?.settings.some(({ address }) => address) ? "" : account;
}

type ReadEntry = { entry: ConnectionEntry; platform: Platform; connection: Connection; given: Record<string, string> };

function readEntry(planning: Planning, site: Site | null, entry: ConnectionEntry, path: Path): ReadEntry | null {
  const platform = platformOf(entry.platform);
  if (!platform) return null;
  const { context, faults } = planning;
  const pathOf = (field: string): Path => {
    if (field.startsWith("event.")) return [...path, "event_names", field.slice("event.".length)];
    if (isValueSetting(field)) return [...path, "values", field.slice("value.".length)];
    if (field.startsWith("map.")) return [...path, "fields", field.slice("map.".length)];
    return [...path, "settings", field];
  };
  noteEventNames(planning, entry, path);
  const found: FileFault[] = [];
  const own = { ...planning, faults: found };
  for (const { name, secret } of platform.settings)
    if (secret && entry.settings[name] && !planning.isReference([...path, "settings", name]))
      found.push({ path: [...path, "settings", name], message: mustBeReference });
  const given = givenSettings(entry);
  const read: Record<string, string> = {};
  for (const [name, value] of Object.entries(given)) {
    const work = () => checkSettings(platform, { [name]: value });
    const one = check(own, pathOf, work, () => ({ given: value, choices: choicesOf(platform, name) }));
    if (one) Object.assign(read, one);
    // The other settings are checked without it.
    else delete given[name];
  }
  const account = platform.account({ ...defaultsOf(platform), ...read });
  const existing = site?.connections.find((one) => one.platform === platform.id && one.account === account);
  if (existing && renewsTokens(existing)) for (const name of ["access_token", "refresh_token", "expires_at"]) delete given[name];
  const checkAddress = (url: string) => urlFault(context.allowPrivate, url);
  const wanted = { settings: given, events: eventsOf(entry) };
  const by = { ...context.by, checkAddress };
  // A setting with a fault is not missing.
  const faulty = new Set(found.map((one) => fieldText(one.path)));
  const certain = found.length;
  const connection = check(own, pathOf, () => planConnection({ id: site?.id ?? "" }, platform, existing, wanted, by));
  faults.push(...found.filter((one, i) => i < certain || !faulty.has(fieldText(one.path))));
  return connection && found.length === 0 ? { entry, platform, connection, given } : null;
}

const choicesOf = (platform: Platform, name: string): readonly string[] =>
  (name.startsWith("event.") ? platform.events?.choices : platform.settings.find((one) => one.name === name)?.choices) ?? [];

/** An event may have any name, so a misspelled one is no fault. */
function noteEventNames({ notes }: Planning, { events = [], event_names: names = {}, values = {} }: ConnectionEntry, path: Path) {
  const given = [
    ...(events === "all" ? [] : events.map((name, i) => ({ name, field: ["events", i] }))),
    ...Object.keys({ ...names }).map((name) => ({ name, field: ["event_names", name] })),
    ...Object.keys(values).map((name) => ({ name, field: ["values", name] })),
  ];
  for (const { name, field } of given.filter((one) => usualEventOf(one.name) === null).slice(0, maxSuggestions)) {
    const nearest = findNearest(name, usualEventNames);
    if (nearest !== null)
      notes.push(
        `${fieldText([...path, ...field])}: ${name} is not a usual event, but a name of your own. ${didYouMean(nearest)}`,
      );
  }
}

function givenSettings({ settings, event_names: names = {}, fields = {}, values = {} }: ConnectionEntry) {
  const all = [
    ...Object.entries(settings),
    ...Object.entries(names).map(([name, value]) => [`event.${name}`, value] as const),
    ...Object.entries(fields).map(([name, value]) => [mapSetting(name), value] as const),
    ...Object.entries(values).map(([name, value]) => [`value.${name}`, value] as const),
  ];
  return Object.fromEntries(all.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
}

const eventsOf = ({ events }: ConnectionEntry) => (events === "all" ? null : events);

/** The relay has renewed the tokens of the file since, and the old ones may be invalid. Refused tokens are replaced. */
const renewsTokens = ({ settings, state, unreadable }: Connection) =>
  Boolean(settings.refresh_token) && state !== "needs reconnection" && unreadable === undefined;

function changeOf({ context }: Planning, host: string, read: ReadEntry, existing: Connection | undefined): Change[] {
  const { entry, platform, connection, given } = read;
  const { paused } = entry;
  const lines = settingLines(platform, existing, connection);
  const isSaved = existing !== undefined && lines.length === 0;
  const isPaused = existing?.state === "paused";
  if (paused !== undefined && paused !== isPaused)
    lines.push({ name: "paused", before: existing ? String(isPaused) : null, after: String(paused) });
  if (existing && lines.length === 0) return [];
  const run = async () => {
    const { by, allowPrivate } = context;
    const wanted = { settings: given, events: eventsOf(entry) };
    const checkAddress = (url: string) => urlFault(allowPrivate, url);
    const saved = isSaved
      ? existing
      : (await connectPlatform(context, findSite(context, host), platform.id, wanted, { ...by, checkAddress })).connection;
    if (paused === true && saved.state !== "paused") await pause(context, saved, by);
    if (paused === false && saved.state === "paused") await resume(context, saved, by);
  };
  return [{ kind: existing ? "change" : "add", what: nameOf(connection, host), lines, run }];
}

function settingLines(platform: Platform, existing: Connection | undefined, wanted: Connection): ChangedLine[] {
  const before = existing?.settings ?? {};
  const names = [...new Set([...Object.keys(before), ...Object.keys(wanted.settings)])];
  const lines: ChangedLine[] = names
    .filter((name) => !isSameValue(before[name], wanted.settings[name]))
    .map((name) => ({
      name,
      before: shown(platform, name, before[name]),
      after: shown(platform, name, wanted.settings[name]),
    }));
  const text = (events: readonly string[] | null) => events?.toSorted().join(", ") ?? "all";
  if (existing ? text(existing.events) !== text(wanted.events) : wanted.events !== null)
    lines.push({
      name: "events",
      before: existing ? text(existing.events) : null,
      after: text(wanted.events),
    });
  return lines;
}

const isSameValue = (one: string | undefined, other: string | undefined) =>
  one === undefined || other === undefined ? one === other : isSameSecret(one, other);

function shown(platform: Platform, name: string, value: string | undefined): string | null {
  if (value === undefined) return null;
  const setting = platform.settings.find((one) => one.name === name);
  if (setting?.secret) return shownSecret;
  return setting?.address ? `${new URL(value).origin}/…` : value;
}
