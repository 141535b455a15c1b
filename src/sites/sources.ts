// Sources of a site: what their settings mean, and the changes that people make to them. Each change checks its input, refuses it
// with one sentence, and writes an audit line.

import { isCurrency } from "../kernel/currency.ts";
import { english, say } from "../kernel/messages/message.ts";
import { randomBase62, shortId } from "../kernel/ids.ts";
import { type By, checkAll, missing, Missing, Refusal, refuseFields } from "../kernel/refusal.ts";
import { dayMs } from "../kernel/time.ts";
import { mappingFault, MappingFault } from "../sources/mapping/parse.ts";
import { withMapping } from "../sources/customRules.ts";
import { settingsOf, withKindDefaults, type Kind, type KindSetting } from "../sources/kind.ts";
import { kindOf, kinds } from "../sources/kinds/index.ts";
import { compileKind, type CompiledKind } from "../sources/run.ts";
import type { Dated, SourceState } from "../store/sites/sources.ts";
import { hidden } from "./connectionSettings.ts";
import type { Site, Source } from "./directory.ts";
import { hashKey } from "./keys.ts";
import { auditLine, type SiteContext } from "./manage.ts";

/** After a change, the old address and old secrets stay valid for so long: senders are changed by hand. */
const overlapMs = dayMs;
const tokenLength = 26;
const secretLength = 32;
export const maxSources = 200;
const maxNameLength = 100;

/** Directories replace a source when it changes, so that these are made once. */
const settingsBySource = new WeakMap<Source, Readonly<Record<string, string>>>();

export function settingsOfSource(source: Source): Readonly<Record<string, string>> {
  let settings = settingsBySource.get(source);
  if (!settings) settingsBySource.set(source, (settings = withKindDefaults(knownKind(source.kind), source.settings)));
  return settings;
}

/** The values of a setting that are valid now. A secret that was just changed has two. */
export function validValues(source: Source, name: string, now: number): readonly string[] {
  const secrets = source.secrets[name];
  if (secrets) return secrets.filter(({ until }) => until === null || until > now).map(({ value }) => value);
  const value = settingsOfSource(source)[name];
  return value === undefined ? [] : [value];
}

/** The rules of a source that the customer maps are its own; the others are their kind's. */
const compiled = new WeakMap<Source, CompiledKind>();
const compiledByKind = new Map<string, CompiledKind>();

export function compiledKindOf(source: Source): CompiledKind {
  const kind = knownKind(source.kind);
  const known = kind.isMapped ? compiled.get(source) : compiledByKind.get(kind.id);
  if (known) return known;
  const made = compileKind(withMapping(kind, settingsOfSource(source)));
  if (kind.isMapped) compiled.set(source, made);
  else compiledByKind.set(kind.id, made);
  return made;
}

function knownKind(id: string): Kind {
  const kind = kindOf(id);
  if (kind) return kind;
  throw new Missing("kind", say("unknown_kind_of", { id, known: kinds.map((one) => one.id).join(", ") }));
}

/** The required secrets that are not given yet: most senders show theirs only after they know the address. */
const missingBySource = new WeakMap<Source, readonly string[]>();

export function missingSecrets(source: Source): readonly string[] {
  let names = missingBySource.get(source);
  if (!names) {
    const settings = settingsOf(knownKind(source.kind));
    names = settings.flatMap(({ name, required, secret }) => (required && secret && !source.secrets[name]?.length ? [name] : []));
    missingBySource.set(source, names);
  }
  return names;
}

/** Finds a source of any of the given sites. */
export function findSource(sites: Iterable<Site>, id: string): Source {
  for (const site of sites) {
    const source = site.sources.find((one) => one.id === id);
    if (source) return source;
  }
  throw missing("source", id);
}

/** The path of the address; null where it cannot be read, or was lost. */
export function pathOf({ tokens }: Source): string | null {
  const token = tokens.find(({ until }) => until === null)?.value;
  return token === undefined ? null : `/__cc/in/${token}`;
}

/** Secret settings are write-only. */
export function describeSource(source: Source, now: number) {
  const { id, kind, name, state, createdAt, updatedAt, secrets } = source;
  const old = source.tokens.find(({ until }) => until !== null && until > now);
  const settings: Record<string, string> = { ...source.settings };
  for (const secret of Object.keys(secrets)) settings[secret] = hidden;
  return {
    id,
    kind,
    name,
    state,
    isReadable: source.unreadable === undefined,
    missing: kindOf(kind) ? [...missingSecrets(source)] : [],
    settings,
    createdAt,
    updatedAt,
    oldAddressUntil: old?.until ?? null,
  };
}

type Wanted = { name?: string | undefined; settings: Record<string, string> };

/** Secrets that the customer chooses are made here where none was given. They are never shown again. */
export async function addSource(
  context: SiteContext,
  site: Site,
  kindId: string,
  wanted: Wanted,
  by: By,
): Promise<{ source: Source; newSecrets: Record<string, string> }> {
  const kind = knownKind(kindId);
  const newSecrets = Object.fromEntries(
    settingsOf(kind).flatMap(({ name, required, generated }) =>
      required && generated && wanted.settings[name] === undefined ? [[name, randomBase62(secretLength)]] : [],
    ),
  );
  if (site.sources.length >= maxSources) throw new Refusal("source", say("too_many_sources", { max: maxSources }));
  const token = randomBase62(tokenLength);
  const source: Source = {
    siteId: site.id,
    id: shortId(),
    kind: kind.id,
    name: readName(wanted.name ?? kind.name),
    ...applySettings(kind, { settings: {}, secrets: {} }, { ...wanted.settings, ...newSecrets }, by.now),
    tokens: [{ value: token, until: null }],
    tokenHashes: [{ value: hashKey(token), until: null }],
    state: "active",
    createdAt: by.now,
    updatedAt: by.now,
  };
  await save(context, source, "source added", { id: source.id, kind: kind.id }, by);
  return { source, newSecrets };
}

/** Refuses settings with which a source cannot be added or changed. All required secrets must be there. */
export function checkSource(kindId: string, existing: Source | undefined, settings: Record<string, string>, now: number): void {
  const kind = knownKind(kindId);
  const isMissing = (name: string) => (settings[name] === undefined ? !existing?.secrets[name]?.length : !settings[name].trim());
  const missingOnes = settingsOf(kind).filter(({ name, required, secret }) => required && secret && isMissing(name));
  checkAll(
    () => applySettings(kind, existing ?? { settings: {}, secrets: {} }, settings, now),
    () => refuseFields(missingOnes.map(requiredSetting)),
  );
}

const requiredSetting = ({ name, help }: KindSetting) => new Refusal(name, say("setting_required", { setting: name, help }));

/** A blank value removes a setting; those that are not named stay. */
export async function changeSource(context: SiteContext, source: Source, wanted: Wanted, by: By): Promise<Source> {
  refuseUnreadable(source);
  const kind = knownKind(source.kind);
  const changed: Source = {
    ...source,
    name: wanted.name === undefined ? source.name : readName(wanted.name),
    ...applySettings(kind, source, wanted.settings, by.now),
    updatedAt: by.now,
  };
  const isSecret = (name: string) => settingsOf(kind).some((one) => one.name === name && one.secret);
  const names = Object.keys(wanted.settings);
  const detail = Object.fromEntries(
    names.map((name) => [name, isSecret(name) ? { secret: "replaced" } : (changed.settings[name] ?? null)]),
  );
  await save(context, changed, "source changed", { id: source.id, ...detail }, by);
  return changed;
}

/** Returns the kind with the settings of a source, or with those that a person tries out. Nothing is saved. */
export function previewKind(source: Source, tried: Record<string, string> | undefined, now: number) {
  const kind = knownKind(source.kind);
  const configured = tried === undefined ? source : applySettings(kind, source, tried, now);
  const settings = withKindDefaults(kind, configured.settings);
  return { compiled: compileKind(withMapping(kind, settings)), settings };
}

/** Makes a new address. The old one is valid for another day. */
export async function rotateAddress(context: SiteContext, source: Source, by: By): Promise<Source> {
  const token = randomBase62(tokenLength);
  const rotated: Source = {
    ...source,
    tokens: replaceCurrent(source.tokens, token, by.now),
    tokenHashes: replaceCurrent(source.tokenHashes, hashKey(token), by.now),
    updatedAt: by.now,
  };
  // Where the row was damaged, the secrets have to be given again.
  const { unreadable: _, ...readable } = rotated;
  await save(context, readable, "source address rotated", { id: source.id }, by);
  return readable;
}

export async function setSourceState(context: SiteContext, source: Source, state: SourceState, by: By): Promise<void> {
  refuseUnreadable(source);
  const action = state === "paused" ? "source paused" : "source resumed";
  await save(context, { ...source, state }, action, { id: source.id }, by);
}

export async function removeSource({ store, directory }: SiteContext, { siteId, id, kind }: Source, by: By): Promise<void> {
  await store.configuration.removeSource(auditLine(siteId, "source removed", { id, kind }, by), id);
  await directory.refresh();
}

async function save(
  { store, directory }: SiteContext,
  source: Source,
  action: string,
  detail: Record<string, unknown>,
  by: By,
): Promise<void> {
  await store.configuration.saveSource(auditLine(source.siteId, action, detail, by), source);
  await directory.refresh();
}

/** Keeps the value that was current for a while, and none that is older. */
function replaceCurrent(dated: readonly Dated[], value: string, now: number): Dated[] {
  const old = dated.filter(({ until }) => until === null).map((one) => ({ value: one.value, until: now + overlapMs }));
  return [{ value, until: null }, ...old];
}

export function refuseUnreadable({ id, unreadable }: Source): void {
  if (unreadable) throw new Refusal("source", say("source_unreadable", { id }));
}

function readName(text: string): string {
  const name = text.trim();
  if (name === "" || name.length > maxNameLength || /\p{Cc}/u.test(name))
    throw new Refusal("name", say("source_name_invalid", { max: maxNameLength }));
  return name;
}

type Configured = Pick<Source, "settings" | "secrets">;

/** Checks the given settings and applies them. A required secret may follow later, but cannot be removed. */
function applySettings(kind: Kind, before: Configured, given: Record<string, string>, now: number): Configured {
  const declared = settingsOf(kind);
  const settings = { ...before.settings };
  const secrets: Record<string, readonly Dated[]> = { ...before.secrets };
  const faults: Refusal[] = [];
  for (const [name, text] of Object.entries(given)) {
    const value = text.trim();
    const setting = declared.find((one) => one.name === name);
    // What was saved before it was checked stays: a file may go on to name it.
    const isSaved = setting?.currency && value === before.settings[name];
    const fault = setting ? (isSaved ? null : settingFault(setting, value)) : unknownSetting(kind);
    if (fault !== null) faults.push(new Refusal(name, say("setting_fault", { setting: name, fault })));
    else if (setting?.secret) {
      if (value === "") delete secrets[name];
      else if (value !== secrets[name]?.[0]?.value) secrets[name] = replaceCurrent(secrets[name] ?? [], value, now);
    } else if (value === "") delete settings[name];
    else settings[name] = value;
  }
  const has = (name: string) => (secrets[name]?.length ?? 0) > 0 || withKindDefaults(kind, settings)[name] !== undefined;
  for (const setting of declared) {
    const { name, required, requiredUnless, secret } = setting;
    if (required && secret && given[name] === undefined) continue;
    const isNeeded =
      required || (requiredUnless && withKindDefaults(kind, settings)[requiredUnless.setting] !== requiredUnless.is);
    if (isNeeded && !has(name) && !faults.some(({ field }) => field === name)) faults.push(requiredSetting(setting));
  }
  refuseFields(faults);
  checkMapping(kind, settings);
  return { settings, secrets };
}

const maxSettingLength = 2000;

function settingFault({ choices, currency, mapping }: KindSetting, value: string): string | null {
  if (value === "") return null;
  if (value.length > maxSettingLength) return `is longer than ${maxSettingLength} characters`;
  if (choices && !choices.includes(value)) return `must be one of ${choices.join(", ")}`;
  if (currency && !isCurrency(value.toUpperCase())) return "must be the three letters of a currency, such as EUR";
  return mapping ? mappingFault(value, mapping) : null;
}

const unknownSetting = (kind: Kind) =>
  english(
    say("not_a_setting_of", {
      platform: kind.id,
      known: settingsOf(kind)
        .map(({ name }) => name)
        .join(", "),
    }),
  );

/** Settings that hold several expressions are checked as a whole. */
function checkMapping(kind: Kind, settings: Record<string, string>): void {
  try {
    compileKind(withMapping(kind, withKindDefaults(kind, settings)));
  } catch (fault) {
    if (!(fault instanceof MappingFault)) throw fault;
    throw new Refusal("settings", say("setting_fault", { setting: "click_ids", fault: fault.message }));
  }
}
