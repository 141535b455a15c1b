// The move of one site to another installation, as each of the two databases knows it. A row here decides which of them serves
// the site: nodes read it with the configuration.
//
//   here  copying → locked → moved      (the site is served; is read-only; is served there)
//   there arriving → live               (rows are written, no site yet; the site is served)
//
// "live" there is committed before "moved" here, and "locked" here before both: at no moment do both serve the site.

import { Conflict } from "../../kernel/refusal.ts";
import { asOneOf, asText, describeRow } from "../describeRow.ts";
import type { Query, Row } from "../engine/database.ts";

export type SiteMoveState = "copying" | "locked" | "moved" | "arriving" | "live";

export type SiteMove = {
  siteId: string;
  moveId: string;
  /** The process that continues the move. */
  runId: string;
  state: SiteMoveState;
  /** The name of the other installation, for people. */
  peer: string;
};

/** What nodes know of a site that they do not serve: it is read-only for a moment, or was moved. */
export type LeavingState = "locked" | "moved";

const moveRow = describeRow<SiteMove, SiteMove>({
  siteId: asText,
  moveId: asText,
  runId: asText,
  state: asOneOf<SiteMoveState>(),
  peer: asText,
});

export async function readSiteMove(db: Query, siteId: string): Promise<SiteMove | null> {
  const [row] = await db.all(`SELECT ${moveRow.list} FROM site_moves WHERE site_id = $1`, [siteId]);
  return row ? moveRow.read(row) : null;
}

/**
 * Begins the move on one side, or continues it under a new run: an earlier run can change nothing from then on. Fails where the
 * site is live or moved already.
 */
export async function takeSiteMove(tx: Query, move: SiteMove, now: number): Promise<void> {
  const { siteId, moveId, runId, state, peer } = move;
  // The site arrived here by an earlier move, and goes on to another installation.
  await tx.all(`DELETE FROM site_moves WHERE site_id = $1 AND move_id <> $2 AND state = 'live'`, [siteId, moveId]);
  const [row] = await tx.all(
    `INSERT INTO site_moves (site_id, move_id, run_id, state, peer, started_at, updated_at)
     VALUES ($1, $2, $3, $4, $5, $6, $6) ON CONFLICT (site_id) DO UPDATE SET run_id = excluded.run_id
     WHERE site_moves.move_id = excluded.move_id AND site_moves.state NOT IN ('live', 'moved') RETURNING site_id`,
    [siteId, moveId, runId, state, peer, now],
  );
  if (!row) throw new Superseded();
}

/** Another process has continued, finished or given up the move. */
class Superseded extends Conflict {
  constructor() {
    super("site", "Another process continues this move, or has ended it. Run the same command again.");
  }
}

/** Fails where another run has taken the move. Locks the row, so that none can until the transaction ends. */
export async function setMoveState(
  tx: Query,
  { siteId, runId }: Pick<SiteMove, "siteId" | "runId">,
  state: SiteMoveState,
  now: number,
): Promise<void> {
  const [row] = await tx.all(
    `UPDATE site_moves SET state = $3, updated_at = $4 WHERE site_id = $1 AND run_id = $2 RETURNING site_id`,
    [siteId, runId, state, now],
  );
  if (!row) throw new Superseded();
}

export const removeSiteMove = (tx: Query, siteId: string) => tx.all(`DELETE FROM site_moves WHERE site_id = $1`, [siteId]);

export const asLeaving = (row: Row): LeavingState | null => (row.state === "locked" || row.state === "moved" ? row.state : null);

/** Refuses changes of people to a site that is read-only or was moved: they would be lost. */
export async function refuseLeaving(tx: Query, siteId: string): Promise<void> {
  const move = await readSiteMove(tx, siteId);
  if (move?.state === "locked")
    throw new Conflict("site", "This site is being moved to another installation. Try again in a moment.");
  if (move?.state === "moved") throw new Conflict("site", "This site was moved to another installation. Change it there.");
}
