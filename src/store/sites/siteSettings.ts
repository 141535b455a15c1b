// Stores the settings of a site as JSON, in which URLs that may hold a token are sealed.

import type { Query } from "../engine/database.ts";
import type { Seal } from "../engine/seal.ts";

type Settings = Record<string, unknown>;

export const sealedSettings = ["alertWebhook"];
export const settingPlace = (siteId: string, name: string) => `setting ${siteId} ${name}`;

export function openSettings(seal: Seal, siteId: string, text: string): Settings {
  return mapSealed(JSON.parse(text), (value, name) => seal.open(value, settingPlace(siteId, name)));
}

function closeSettings(seal: Seal, siteId: string, settings: Settings): string {
  return JSON.stringify(mapSealed(settings, (value, name) => seal.close(value, settingPlace(siteId, name))));
}

function mapSealed(settings: Settings, change: (value: string, name: string) => string): Settings {
  const mapped = { ...settings };
  for (const name of sealedSettings) {
    const value = mapped[name];
    if (typeof value === "string") mapped[name] = change(value, name);
  }
  return mapped;
}

export async function replaceSettings(
  tx: Query,
  seal: Seal,
  siteId: string,
  changeStored: (stored: Settings) => Settings,
): Promise<void> {
  const [row] = await tx.all(`SELECT settings FROM sites WHERE site_id = $1`, [siteId]);
  const settings = changeStored(openSettings(seal, siteId, String(row?.settings)));
  await tx.all(`UPDATE sites SET settings = $1 WHERE site_id = $2`, [
    closeSettings(seal, siteId, settings),
    siteId,
  ]);
}
