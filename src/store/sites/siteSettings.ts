// Stores the settings of a site as JSON, in which URLs that may hold a token are sealed.

import { readObject } from "../damagedRows.ts";
import type { Query } from "../engine/database.ts";
import { tryUnseal, type Seal } from "../engine/seal.ts";

type Settings = Record<string, unknown>;

export const sealedSettings = ["alertWebhook"];
export const settingPlace = (siteId: string, name: string) => `setting ${siteId} ${name}`;

/** Names all settings of a site in a list of what cannot be read. */
export const allSettings = "settings";

/** Takes the place of settings that cannot be read: identifiers are used only with consent, whatever the setting was. */
const fallback: Settings = { consentMode: "opt-in" };

/** `unreadable` holds the names of sealed settings that were left out, or `allSettings`. */
export function unsealSettings(seal: Seal, siteId: string, text: string): { settings: Settings; unreadable: string[] } {
  const stored = readObject(text);
  if (!stored) return { settings: { ...fallback }, unreadable: [allSettings] };
  const settings = { ...stored };
  const unreadable: string[] = [];
  for (const name of sealedSettings) {
    const value = settings[name];
    if (typeof value !== "string") continue;
    const plain = tryUnseal(seal, value, settingPlace(siteId, name));
    if (plain !== null) settings[name] = plain;
    else {
      unreadable.push(name);
      delete settings[name];
    }
  }
  return { settings, unreadable };
}

function closeSettings(seal: Seal, siteId: string, settings: Settings): Settings {
  const closed = { ...settings };
  for (const name of sealedSettings) {
    const value = closed[name];
    if (typeof value === "string") closed[name] = seal.seal(value, settingPlace(siteId, name));
  }
  return closed;
}

export async function replaceSettings(
  tx: Query,
  seal: Seal,
  siteId: string,
  changeStored: (stored: Settings) => Settings,
): Promise<void> {
  const [row] = await tx.all(`SELECT settings FROM sites WHERE site_id = $1`, [siteId]);
  if (!row) throw new Error(`there is no site ${siteId}`);
  const text = String(row.settings);
  const { settings, unreadable } = unsealSettings(seal, siteId, text);
  const closed = closeSettings(seal, siteId, changeStored(settings));
  // A sealed value that cannot be read stays as it is until a person replaces it.
  const stored = readObject(text) ?? {};
  for (const name of unreadable) if (name in stored && !(name in closed)) closed[name] = stored[name];
  await tx.all(`UPDATE sites SET settings = $1 WHERE site_id = $2`, [JSON.stringify(closed), siteId]);
}
