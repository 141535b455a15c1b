// The settings of a connection: checks them against the platform's declaration and hides secrets.

import { platformOf } from "../platforms/index.ts";
import { mappingFault } from "../platforms/shared/mapping.ts";
import { nameFault, nameSetting } from "../platforms/shared/eventNames.ts";
import { isValueSetting, ruleFault, valueSetting } from "../platforms/valueRules.ts";
import type { Platform } from "../platforms/platform.ts";
import type { Connection } from "./directory.ts";
import { say } from "../kernel/messages/message.ts";
import { Refusal, refuseFields } from "../kernel/refusal.ts";

export const hidden = "(configured)";

/** Secret settings are write-only. */
export function describeConnection(connection: Connection) {
  const { id, platform, state, stateReason, events, createdAt } = connection;
  const settings = { ...connection.settings };
  for (const { name, secret, address } of platformOf(platform)?.settings ?? []) {
    if (secret && name in settings) settings[name] = hidden;
    if (address && settings[name]) settings[name] = `${new URL(settings[name]).origin}/…`;
  }
  return { id, platform, state, stateReason, events, settings, createdAt };
}

export const defaultsOf = (platform: Platform): Record<string, string> =>
  Object.fromEntries(platform.settings.flatMap(({ name, default: value }) => (value === undefined ? [] : [[name, value]])));

/** Checks the given settings and drops blank ones. */
export function checkSettings(platform: Platform, given: Record<string, string>): Record<string, string> {
  const settings: Record<string, string> = {};
  const faults: Refusal[] = [];
  for (const [name, text] of Object.entries(given)) {
    const value = text.trim();
    const key = keyOf(name);
    const fault = settingFault(platform, key, value);
    if (fault) faults.push(new Refusal(name, say("setting_fault", { setting: name, fault })));
    if (value !== "") settings[key] = value;
  }
  refuseFields(faults);
  return settings;
}

function keyOf(name: string): string {
  if (name.startsWith("event.")) return nameSetting(name.slice("event.".length));
  return isValueSetting(name) ? valueSetting(name.slice("value.".length)) : name;
}

/** A mapped amount would replace what a rule makes of the value, and the trace would name the rule. */
export function checkValues(platform: Platform, settings: Record<string, string>): void {
  const mapped = platform.fields?.find(({ name, isAmount }) => isAmount && settings[`map.${name}`] !== undefined);
  const rule = Object.keys(settings).find(isValueSetting);
  if (mapped && rule) throw new Refusal(`map.${mapped.name}`, say("value_set_twice", { setting: `map.${mapped.name}`, rule }));
}

/** Applies changes to saved settings: a blank value removes a setting, the others are kept. */
export function withChanges(
  platform: Platform,
  saved: Readonly<Record<string, string>>,
  given: Record<string, string>,
): Record<string, string> {
  const chosen = checkSettings(platform, given);
  const named = new Set(Object.keys(given).map(keyOf));
  // The refresh token and expiry belong to the old access token.
  for (const name of chosen.access_token === undefined ? [] : ["refresh_token", "expires_at"]) named.add(name);
  const kept = Object.entries(saved).filter(([name]) => !named.has(name));
  return { ...defaultsOf(platform), ...Object.fromEntries(kept), ...chosen };
}

export function checkRequired(platform: Platform, settings: Record<string, string>): void {
  refuseFields(
    platform.settings
      .filter(({ name, required }) => required && settings[name] === undefined)
      .map(({ name, help }) => new Refusal(name, say("setting_required", { setting: name, help }))),
  );
  const { requires } = platform;
  if (!requires || requires.some((names) => names.every((name) => settings[name] !== undefined))) return;
  const sets = requires.map((names) => names.join(" and "));
  throw new Refusal(
    requires[0]?.[0] ?? "settings",
    say("settings_needed", { platform: platform.name, settings: sets.join(", or ") }),
  );
}

export function checkAddresses(
  platform: Platform,
  settings: Record<string, string>,
  checkAddress: (url: string) => string | null,
): void {
  const addresses = Object.entries(platform.customerAddress ? settings : {}).filter(
    ([name, value]) => /^https?:\/\//i.test(value) && !name.startsWith("map."),
  );
  refuseFields(
    addresses.flatMap(([name, url]) => {
      const fault = checkAddress(url);
      return fault ? new Refusal(name, say("address_fault", { setting: name, fault })) : [];
    }),
  );
}

function settingFault(platform: Platform, name: string, value: string): string | null {
  if (name.startsWith("event.") && platform.events) return value === "" ? null : nameFault(value, platform.events);
  if (isValueSetting(name)) return value === "" ? null : ruleFault(value);
  if (name.startsWith("map.")) return value === "" ? null : mappingFault(name.slice("map.".length), value, platform.fields ?? []);
  const setting = platform.settings.find((one) => one.name === name);
  if (setting) return value === "" ? null : (setting.check?.(value) ?? null);
  const known = [
    ...platform.settings.map((one) => one.name),
    "events",
    ...(platform.events ? ["event.NAME"] : []),
    ...(platform.fields?.length ? ["map.FIELD"] : []),
    "value.NAME",
  ];
  return say("not_a_setting_of", { platform: platform.id, known: known.join(", ") });
}

/** The time when a connection's token expires for good; null where it is renewed, or not known to expire. */
export function tokenExpiryOf({ settings }: Pick<Connection, "settings">): number | null {
  const at = Number(settings.expires_at ?? Number.NaN);
  return settings.refresh_token || !Number.isFinite(at) ? null : at;
}
