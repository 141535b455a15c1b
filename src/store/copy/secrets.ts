// The sealed values of a row that is copied to a database with another encryption key.

import { readObject } from "../damagedRows.ts";
import type { Row } from "../engine/database.ts";
import { tryUnseal, type Seal } from "../engine/seal.ts";
import { sealedColumns, sealedIn } from "../maintenance/sealedColumns.ts";

/** Marks a value that was unsealed, and one that could not be: that one is copied as it is, and stays unreadable. */
const [unsealed, unreadable] = ["o", "u"];

/** Unseals the secrets of a row, so that it can be compared with one that has another key. */
export const unsealRow = (seal: Seal | null, table: string, row: Row): Row =>
  changeSecrets(seal, table, row, (one, sealed, place) => {
    const plain = tryUnseal(one, sealed, place);
    return plain === null ? unreadable + sealed : unsealed + plain;
  });

/** Seals what `unsealRow` has unsealed. */
export const sealRow = (seal: Seal | null, table: string, row: Row): Row =>
  changeSecrets(seal, table, row, (one, text, place) =>
    text.startsWith(unsealed) ? one.seal(text.slice(unsealed.length), place) : text.slice(unreadable.length),
  );

type Change = (seal: Seal, value: string, place: string) => string;

function changeSecrets(seal: Seal | null, table: string, row: Row, change: Change): Row {
  if (seal === null) return row;
  const changed: Row = { ...row };
  for (const { column, place } of sealedColumns.filter((one) => one.table === table)) {
    const value = row[column];
    if (typeof value === "string") changed[column] = change(seal, value, place(row));
  }
  const settings = table === "sites" ? readObject(String(row["settings"])) : null;
  if (settings) {
    for (const { name, sealed, place } of sealedIn(String(row["site_id"]), String(row["settings"])))
      settings[name] = change(seal, sealed, place);
    changed["settings"] = JSON.stringify(settings);
  }
  return changed;
}
