// Commands that people paste: to connect a platform, and to give a connection fresh credentials. A secret is read from a file,
// so that it is neither typed nor kept in the history of a shell.

import { platformOf } from "../platforms/index.ts";
import type { Platform, Setting } from "../platforms/platform.ts";
import type { Connection } from "./directory.ts";

const fileOf = (name: string) => `${name}.txt`;

const word = ({ name, secret }: Setting) => (secret ? `${name}=@${fileOf(name)}` : `${name}=${name.toUpperCase()}`);

/**
 * The settings that a new connection needs: the required ones, of several possible sets the first, and the default target
 * without which events would be skipped.
 */
export function neededSettings({ settings, requires = [], events }: Platform): Setting[] {
  const target = events?.others === "not sent" ? events.defaultSetting : undefined;
  const isChosen = ({ name }: Setting) => requires[0]?.includes(name) === true || name === target;
  const required = settings.filter((one) => one.required === true);
  return [...required, ...settings.filter((one) => one.required !== true && isChosen(one))];
}

/** The settings that a sign-in fills. */
const signedInSettings = ["access_token", "refresh_token", "expires_at"];

export function connectCommand(site: string, platform: Platform, signInId?: string): string {
  const needed = neededSettings(platform);
  const words =
    signInId === undefined
      ? needed.map(word)
      : [`sign_in=${signInId}`, ...needed.filter(({ name }) => !signedInSettings.includes(name)).map(word)];
  return ["cleancast connection add", site, platform.id, ...words].join(" ");
}

/** The command that connects the platform of a connection again, with all its settings. */
export function connectHint(site: string, platformId: string): string {
  const platform = platformOf(platformId);
  return platform ? connectCommand(site, platform) : `cleancast platform list`;
}

/** What to do about a connection whose credentials were refused. */
export function reconnectHint({ id, platform: platformId, settings }: Connection, site: string): string {
  const platform = platformOf(platformId);
  if (platform?.oauth && !platform.oauth.isForReading && isSignedIn(settings))
    return `Sign in again and follow the last line that it prints: cleancast sign-in ${site} ${platformId}`;
  // The relay creates the signing secret itself: there is no new one to write.
  const possible = (platform?.settings ?? []).filter(({ secret, signing }) => secret && !signing);
  const given = possible.filter(({ name }) => settings[name]);
  const secrets = given.length > 0 ? given : possible.slice(0, 1);
  if (secrets.length === 0) return `cleancast connection test ${id}`;
  const files = secrets.map(({ name }) => fileOf(name)).join(", ");
  return `Write the new value to ${files}, then: cleancast connection set ${id} ${secrets.map(word).join(" ")}`;
}

/** Only a sign-in fills these. */
const isSignedIn = ({ refresh_token, expires_at }: Connection["settings"]) => Boolean(refresh_token ?? expires_at);
