// Changes that people make to sites and keys. Each function checks its input, refuses it with one sentence, and writes an
// audit line.

import { dayMs } from "../kernel/time.ts";
import type { Mode, Sha256 } from "../kernel/event.ts";
import { shortId } from "../kernel/ids.ts";
import type { AuditLine } from "../store/sites/audit.ts";
import type { Store } from "../store/store.ts";
import { hasSettings, isUsable, type Directory, type InboundKey, type Site } from "./directory.ts";
import { isVerified, readHost, readPastedHost } from "./hosts.ts";
import { makeKey, type NewKey } from "./keys.ts";
import { listShortened } from "./retention.ts";
import { maxListLength, SettingFault } from "./settingForms.ts";
import { auditedChanges, describeSettings, pickSettings, readSettings, withDefaults, type SiteSettings } from "./settings.ts";
import { english, say } from "../kernel/messages/message.ts";
import { Conflict, missing, Refusal, type By } from "../kernel/refusal.ts";

/** The stored configuration and its copy in memory: a change writes to the first and refreshes the second. */
export type SiteContext = { store: Store; directory: Directory };

const rotationOverlapMs = dayMs;
/** Valid ones. Those that were revoked or have expired stay listed, and do not count. */
export const maxKeys = 500;

export function auditLine(siteId: string, action: string, detail: Record<string, unknown>, by: By): AuditLine {
  return { siteId, actor: by.actor, action, detail, at: by.now };
}

/** Finds a site by its id or by one of its hosts. */
export function findSite({ directory }: Pick<SiteContext, "directory">, text: string): Site {
  const site = directory.site(text) ?? directory.site(directory.host(readHost(text) ?? "")?.siteId ?? "");
  if (!site) throw missing("site", text, "them");
  return site;
}

/** An unverified claim keeps other sites from claiming the host for this long. */
const claimMs = 7 * dayMs;

type FreeHost = {
  host: string;
  /** The site that loses the host, because it never verified its claim. */
  displacedSite: string | null;
};

/** Reads a host name that no site has, or whose site never verified its claim. Operators need not wait for the claim to expire. */
export function readFreeHost(
  directory: Directory,
  text: string,
  { now, isTrusted }: { now: number; isTrusted: boolean },
): FreeHost {
  const host = readPastedHost(text);
  if (!host) throw new Refusal("host", say("host_invalid", { host: text }));
  const known = directory.host(host);
  if (!known) return { host, displacedSite: null };
  if (!isVerified(known) && (isTrusted || known.addedAt < now - claimMs)) return { host, displacedSite: known.siteId };
  throw new Conflict("host", say("host_taken", { host }), `${host} belongs to site ${known.siteId} already.`);
}

export const displacedLine = ({ host, displacedSite }: FreeHost, by: By) =>
  displacedSite === null ? null : auditLine(displacedSite, "host lost to another site", { host }, by);

export async function addSite({ store, directory }: SiteContext, hostText: string, by: By): Promise<Site> {
  // Only operators add sites.
  const rights = { now: by.now, isTrusted: true };
  const free = readFreeHost(directory, hostText, rights);
  const { host } = free;
  const id = shortId();
  const site = { name: host, settings: {}, hosts: [host] };
  await store.configuration
    .addSite(auditLine(id, "site added", { host }, by), site, displacedLine(free, by))
    .catch((error: unknown) => rethrowUnlessTaken(directory, host, rights, error));
  await directory.refresh();
  return findSite({ directory }, id);
}

/** Refuses the second of two sites that claim the same host at the same time, as if it had claimed the host later. */
export async function rethrowUnlessTaken(
  directory: Directory,
  host: string,
  rights: Parameters<typeof readFreeHost>[2],
  error: unknown,
): Promise<never> {
  await directory.refresh();
  readFreeHost(directory, host, rights);
  throw error;
}

export async function renameSite({ store, directory }: SiteContext, site: Site, name: string, by: By): Promise<Site> {
  await store.configuration.renameSite(auditLine(site.id, "site renamed", { name, before: { name: site.name } }, by), name);
  await directory.refresh();
  return findSite({ directory }, site.id);
}

export async function changeSiteSettings(
  { store, directory }: SiteContext,
  site: Site,
  changes: Record<string, string>,
  by: By,
): Promise<SiteSettings> {
  const changed = readSettings(changes);
  if (changed instanceof SettingFault) throw new Refusal("setting", changed.said);
  // This also replaces settings that cannot be read: it begins with the defaults, and with consent as opt-in.
  const detail = { ...auditedChanges(changes, changed), before: auditedBefore(site, Object.keys(changes)) };
  const line = auditLine(site.id, "settings changed", detail, by);
  await store.configuration.changeSettings(line, (stored) => ({ ...stored, ...changed }));
  if (listShortened(site.settings, changed).length > 0) await store.deletions.add("retention");
  await directory.refresh();
  return endDamageAlerts(store, site, findSite({ directory }, site.id), by.now);
}

/** Returns the former values of these settings, in the form that the audit log may keep. */
function auditedBefore({ settings }: Site, labels: readonly string[]): Record<string, string> {
  const texts = Object.entries(describeSettings(settings)).filter(([label]) => labels.includes(label));
  return auditedChanges(Object.fromEntries(texts), settings);
}

/** Ends the alerts about settings that can be read again. */
async function endDamageAlerts({ alerts }: Pick<Store, "alerts">, before: Site, site: Site, now: number): Promise<SiteSettings> {
  for (const name of before.unreadable ?? [])
    if (!site.unreadable?.includes(name)) await alerts.end(site.id, name, ["damaged data"], now);
  return site.settings;
}

/** Refuses changes to a site that is moved to another installation. */
export function requireHere({ leaving }: Site): void {
  if (leaving?.state === "moved")
    throw new Conflict("site", say("site_moved"), `This site was moved to ${leaving.peer}. Change it there.`);
  if (leaving)
    throw new Conflict(
      "site",
      say("site_being_moved"),
      `This site is being moved to ${leaving.peer}. Try again in a moment, or end the move: run its command again with --abort`,
    );
}

/** Refuses work that depends on settings which cannot be read, or on a site that is moved to another installation. */
export function requireSettings(site: Site): void {
  requireHere(site);
  if (hasSettings(site)) return;
  const name = site.hosts[0] ?? site.id;
  const sentence = say("site_settings_unreadable", { site: name });
  throw new Refusal("site", sentence, `${english(sentence).slice(0, -1)}: cleancast site set ${name} inbound=on`);
}

/** Copies settings of another site, secret ones too: they are copied in the database and never shown. */
export async function copySettings(
  { store, directory }: SiteContext,
  site: Site,
  from: Site,
  labels: readonly string[],
  by: By,
): Promise<SiteSettings> {
  requireSettings(from);
  const copied = pickSettings(from.settings, labels);
  if (copied instanceof SettingFault) throw new Refusal("names", copied.said);
  const texts = Object.entries(describeSettings(from.settings)).filter(([label]) => labels.includes(label));
  const detail = {
    from: from.id,
    ...auditedChanges(Object.fromEntries(texts), copied),
    before: auditedBefore(site, labels),
  };
  await store.configuration.changeSettings(auditLine(site.id, "settings copied", detail, by), (stored) => ({
    ...stored,
    ...copied,
  }));
  if (listShortened(site.settings, copied).length > 0) await store.deletions.add("retention");
  await directory.refresh();
  return endDamageAlerts(store, site, findSite({ directory }, site.id), by.now);
}

/** Adds a person to allow_persons: from now on their events are never filtered. */
export async function allowPerson(
  { store, directory }: SiteContext,
  site: Site,
  emailSha256: Sha256,
  by: By & { eventId: string },
): Promise<void> {
  requireSettings(site);
  if (site.settings.allowedPersons.includes(emailSha256)) return;
  if (site.settings.allowedPersons.length >= maxListLength) {
    throw new Refusal("allow_persons", say("allow_list_full", { max: maxListLength }));
  }
  // The audit line names the event, not the person.
  const line = auditLine(site.id, "person allowed", { event: by.eventId }, by);
  await store.configuration.changeSettings(line, (stored) => ({
    ...stored,
    allowedPersons: [...new Set([...withDefaults(stored).allowedPersons, emailSha256])],
  }));
  await directory.refresh();
}

function requireRoomForKey({ keys }: Pick<Site, "keys">, max: number, now: number): void {
  if (keys.filter((key) => isUsable(key, now)).length >= max) throw new Refusal("key", say("too_many_keys", { max }));
}

/** Creates a key, or adds one that was made elsewhere (ownKeys.ts); the first one of a site turns inbound on. */
export async function addKey(
  { store, directory }: SiteContext,
  site: Site,
  wanted: { name: string; mode: Mode; expiresAt: number | null; own?: NewKey },
  by: By,
): Promise<{ id: string; key: string; openedInbound: boolean }> {
  const name = wanted.name.trim();
  if (!name || name.length > 100) throw new Refusal("name", say("key_name_needed"));
  if (wanted.expiresAt !== null && wanted.expiresAt <= by.now) {
    throw new Refusal("expires", say("expiry_past"));
  }
  requireRoomForKey(site, maxKeys, by.now);
  const { key, hash, prefix } = wanted.own ?? makeKey(wanted.mode);
  const openedInbound = site.keys.length === 0 && !site.settings.inbound && hasSettings(site);
  const id = shortId();
  await store.configuration.addKey(
    auditLine(site.id, "key added", { id, name, prefix, openedInbound }, by),
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
      apiKeyId: by.apiKeyId ?? null,
    },
    openedInbound ? { inbound: true } : {},
  );
  await directory.refresh();
  return { id, key, openedInbound };
}

/** Finds a key of any of the given sites. */
export function findKey(sites: Iterable<Site>, id: string): InboundKey {
  for (const site of sites) {
    const key = site.keys.find((one) => one.id === id);
    if (key) return key;
  }
  throw missing("key", id);
}

export async function revokeKey({ store, directory }: SiteContext, key: InboundKey, by: By): Promise<void> {
  const { siteId, id, name } = key;
  await store.configuration.revokeKey(auditLine(siteId, "key revoked", { id, name }, by), id);
  await directory.refresh();
}

/** Creates a key that replaces an old one. The old one is valid for one more day, so that senders can switch. */
export async function rotateKey(
  { store, directory }: SiteContext,
  old: InboundKey,
  expiresAt: number | null,
  by: By,
): Promise<{ id: string; key: string; oldExpiresAt: number }> {
  const { siteId, id } = old;
  if (!isUsable(old, by.now)) {
    const state = old.revokedAt === null ? "has expired" : "is revoked";
    throw new Conflict("key", say("key_ended", { id, state }));
  }
  if (expiresAt !== null && expiresAt <= by.now) throw new Refusal("expires", say("expiry_past"));
  // Each key may be replaced, but one that was replaced already would only add to them.
  requireRoomForKey(findSite({ directory }, siteId), 2 * maxKeys, by.now);
  const { key, hash, prefix } = makeKey(old.mode);
  const oldExpiresAt = Math.min(old.expiresAt ?? Number.POSITIVE_INFINITY, by.now + rotationOverlapMs);
  const apiKeyId = by.apiKeyId ?? null;
  const fresh = { ...old, id: shortId(), hash, prefix, createdAt: by.now, expiresAt, apiKeyId };
  const isOther = expiresAt !== old.expiresAt;
  const detail = {
    id,
    name: old.name,
    newId: fresh.id,
    prefix,
    oldUntil: oldExpiresAt,
    ...(isOther ? { expiresAt } : {}),
    before: { prefix: old.prefix, ...(isOther ? { expiresAt: old.expiresAt } : {}) },
  };
  await store.configuration.rotateKey(auditLine(siteId, "key rotated", detail, by), id, oldExpiresAt, fresh);
  await directory.refresh();
  return { id: fresh.id, key, oldExpiresAt };
}
