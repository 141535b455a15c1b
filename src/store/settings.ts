// Settings of the whole installation, by name.

import { insertRow, orReplace, type Query } from "./engine/database.ts";

/** Returns null where there is no such row. */
export async function readSetting(db: Query, name: string): Promise<string | null> {
  const [row] = await db.all(`SELECT value FROM settings WHERE name = $1`, [name]);
  return row ? String(row.value) : null;
}

export async function writeSetting(tx: Query, name: string, value: string): Promise<void> {
  await insertRow(tx, "settings", { name, value }, orReplace("name", "value"));
}
