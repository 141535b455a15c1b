// Cursors: how far work has read the rows of a site, by the name of the work. A cursor moves in the transaction that writes what
// follows from reading on, so a node that dies in between leaves a step to be repeated.

import { lastId } from "../kernel/ids.ts";
import { hasRows, insertRow, type Query } from "./engine/database.ts";

/** Work that reads events in the order of their ids. Its cursor begins with the id of the last one. */
export const correctionsCursor = "corrections";
export const confirmationsCursor = (connectionId: string) => `confirmations of ${connectionId}`;

const idLength = lastId.length;

/** Lets that work go back to `id` where it has passed it. A head of corrections that is one id stands for three. */
export async function lowerEventCursors(tx: Query, siteId: string, id: string): Promise<void> {
  await tx.all(
    `UPDATE cursors SET reached = $2 || CASE WHEN name = '${correctionsCursor}' AND LENGTH(reached) = ${idLength}
       THEN ' ' || reached || ' ' || reached ELSE SUBSTR(reached, ${idLength + 1}) END
     WHERE site_id = $1 AND (name = '${correctionsCursor}' OR name LIKE '${confirmationsCursor("%")}')
       AND SUBSTR(reached, 1, ${idLength}) > $2`,
    [siteId, id],
  );
}

/** Returns null where the work has not begun. */
export async function readCursor(db: Query, siteId: string, name: string): Promise<string | null> {
  const [row] = await db.all(`SELECT reached FROM cursors WHERE site_id = $1 AND name = $2`, [siteId, name]);
  return row ? String(row.reached) : null;
}

/** False when another node has moved it from where it was read, `before`. */
export async function moveCursor(
  tx: Query,
  siteId: string,
  name: string,
  before: string | null,
  reached: string,
): Promise<boolean> {
  if (before === null)
    return hasRows(insertRow(tx, "cursors", { site_id: siteId, name, reached }, "ON CONFLICT DO NOTHING RETURNING name"));
  const sql = `UPDATE cursors SET reached = $3 WHERE site_id = $1 AND name = $2 AND reached = $4 RETURNING name`;
  return hasRows(tx.all(sql, [siteId, name, reached, before]));
}

export async function removeCursor(tx: Query, siteId: string, name: string): Promise<void> {
  await tx.all(`DELETE FROM cursors WHERE site_id = $1 AND name = $2`, [siteId, name]);
}
