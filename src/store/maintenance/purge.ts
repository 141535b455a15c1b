// Forgetting what is too old, a small step a transaction: in the embedded store the relay waits for as long as a step
// takes. Steps go along keys that are there anyway; no index is paid for by every event so that old ones are found.
//
// An event goes with its deliveries and attempts, never while one of them waits. The numbers of its hour stay: they are
// marked as final first, because nobody can make them again.

import { idAt, timeOfId } from "../../kernel/ids.ts";
import { chunks, list, type Database, type Query, type Row } from "../engine/database.ts";
import { finalAt } from "../statistics/statistics.ts";
import { hourMs } from "../statistics/traffic.ts";

/** `next` is where to go on; null at the end. `removed` counts rows of all tables. */
export type Step = { removed: number; next: string | null };

/** Of one step, however few rows hang on each. */
const maxEvents = 100;

export function purgeStore(db: Database) {
  const lock = db.forUpdate;

  /** The latest time that is written here: when somebody had the turn, or took an event in. Null where nothing is. */
  async function newestTime(siteIds: Iterable<string>): Promise<number | null> {
    const [lease] = await db.all(`SELECT until FROM leases WHERE site_id = '' AND name = 'purge'`);
    let newest = lease ? Number(lease.until) : null;
    for (const siteId of siteIds) {
      const [row] = await db.all(`SELECT id FROM events WHERE site_id = $1 ORDER BY id DESC LIMIT 1`, [
        siteId,
      ]);
      if (row) newest = Math.max(newest ?? 0, timeOfId(String(row.id)));
    }
    return newest;
  }

  /**
   * Events after the id `after` that were received before `before`, in whole hours: as many as make `most` rows with all
   * that hangs on them. Stops at an hour whose numbers are not made yet: they come first. Those from before
   * `numbersFrom` were forgotten, and nobody waits for them.
   */
  async function events(
    siteId: string,
    { before, numbersFrom }: { before: number; numbersFrom: number },
    after: string,
    most: number,
  ): Promise<Step> {
    const end = idAt(Math.floor(before / hourMs) * hourMs);
    const [first] = await db.all(
      `SELECT id FROM events WHERE site_id = $1 AND id > $2 AND id < $3 ORDER BY id LIMIT 1`,
      [siteId, after, end],
    );
    if (!first) return { removed: 0, next: null };
    const hour = Math.floor(timeOfId(String(first.id)) / hourMs);
    return db.write(async (tx) => {
      const isMade = (await makeFinal(tx, siteId, hour)) || hour < Math.floor(numbersFrom / hourMs);
      if (!isMade) return { removed: 0, next: null };
      // Whoever replays or erases one of them locks it too, and one of the two sees what the other did.
      const rows = await tx.all(
        `SELECT id FROM events WHERE site_id = $1 AND id > $2 AND id < $3 ORDER BY id LIMIT $4 ${lock}`,
        [siteId, after, idAt((hour + 1) * hourMs), Math.min(most, maxEvents)],
      );
      const { ids, old } = await fitting(
        tx,
        siteId,
        rows.map((row) => String(row.id)),
        most,
      );
      return { removed: await removeEvents(tx, siteId, old), next: ids.at(-1) ?? String(first.id) };
    });
  }

  /** Looks at up to `most` claims after `after`, and removes those whose window is over. */
  async function claims(siteId: string, now: number, after: string, most: number): Promise<Step> {
    const rows = await db.all(
      `SELECT claim, expires_at FROM dedup_claims WHERE site_id = $1 AND claim > $2 ORDER BY claim LIMIT $3`,
      [siteId, after, most],
    );
    const over = rows.filter((row) => Number(row.expires_at) <= now).map((row) => String(row.claim));
    let removed = 0;
    for (const some of chunks(over)) {
      const gone = await db.write((tx) =>
        // Somebody may have taken it anew meanwhile.
        tx.all(
          `DELETE FROM dedup_claims WHERE site_id = $1 AND expires_at <= $2 AND claim IN (${list(some.length, 2)})
           RETURNING claim`,
          [siteId, now, ...some],
        ),
      );
      removed += gone.length;
    }
    return { removed, next: rows.length < most ? null : String(rows.at(-1)?.claim) };
  }

  /**
   * Looks at up to `most` decisions after `after`: an agreement goes, with its history, when it is older than `before`
   * and nothing is stored any more of whom it is about. A refusal stays, and so does the operator's word.
   */
  async function agreements(siteId: string, before: number, after: string, most: number): Promise<Step> {
    const [subject = "", givenBy = ""] = after.split("\n");
    const rows = await db.all(
      `SELECT subject, given_by, state, decided_at,
         EXISTS (SELECT 1 FROM identities WHERE identities.site_id = $1 AND email_sha256 = consents.subject)
         OR EXISTS (SELECT 1 FROM visitors WHERE visitors.site_id = $1 AND visitor_id = consents.subject) AS known
       FROM consents WHERE site_id = $1 AND (subject, given_by) > ($2, $3) ORDER BY subject, given_by LIMIT $4`,
      [siteId, subject, givenBy, most],
    );
    let removed = 0;
    for (const row of rows.filter((one) => isGone(one, before))) {
      removed += await db.write(async (tx) => {
        const its = [siteId, String(row.subject), String(row.given_by), before];
        const still = `site_id = $1 AND subject = $2 AND given_by = $3 AND decided_at < $4 AND state <> 'denied'`;
        const gone = await tx.all(`DELETE FROM consents WHERE ${still} RETURNING subject`, its);
        if (gone.length === 0) return 0;
        const lines = await tx.all(`DELETE FROM consent_history WHERE ${still} RETURNING id`, its);
        return gone.length + lines.length;
      });
    }
    const last = rows.at(-1);
    return {
      removed,
      next: rows.length < most ? null : `${String(last?.subject)}\n${String(last?.given_by)}`,
    };
  }

  /** Hours of a key from before `before`; the newest stays, because it tells when the key was last used. */
  async function keyUses(siteId: string, keyId: string, before: number, most: number): Promise<Step> {
    const rows = await db.write((tx) =>
      tx.all(
        `DELETE FROM key_uses WHERE site_id = $1 AND key_id = $2 AND hour IN (
           SELECT hour FROM key_uses WHERE site_id = $1 AND key_id = $2 AND hour < $3
             AND hour < (SELECT MAX(hour) FROM key_uses WHERE site_id = $1 AND key_id = $2) ORDER BY hour LIMIT $4)
         RETURNING hour`,
        [siteId, keyId, Math.floor(before / hourMs), most],
      ),
    );
    return { removed: rows.length, next: rows.length < most ? null : "" };
  }

  /** Numbers by hour from before `before`: of one table, up to `most` hours at a time. */
  async function hours(
    siteId: string,
    table: "statistics" | "statistics_hours" | "visit_counts" | "inbound_counts",
    before: number,
    most: number,
  ): Promise<Step> {
    const end = Math.floor(before / hourMs);
    const rows = await db.write((tx) =>
      tx.all(
        `DELETE FROM ${table} WHERE site_id = $1 AND hour < $2 AND hour <= (
           SELECT MIN(hour) + $3 FROM ${table} WHERE site_id = $1) RETURNING hour`,
        [siteId, end, most],
      ),
    );
    return { removed: rows.length, next: rows.length ? "" : null };
  }

  async function audit(siteId: string, before: number, most: number): Promise<Step> {
    const rows = await db.write((tx) =>
      tx.all(
        `DELETE FROM audit WHERE site_id = $1 AND id IN (
           SELECT id FROM audit WHERE site_id = $1 AND id < $2 ORDER BY id LIMIT $3) RETURNING id`,
        [siteId, idAt(before), most],
      ),
    );
    return { removed: rows.length, next: rows.length < most ? null : "" };
  }

  return { newestTime, events, claims, agreements, keyUses, hours, audit };
}

const isGone = (row: Row, before: number) =>
  Number(row.known) === 0 &&
  row.state === "granted" &&
  row.given_by !== "operator" &&
  Number(row.decided_at) < before;

/** False where there are no numbers of the hour. */
async function makeFinal(tx: Query, siteId: string, hour: number): Promise<boolean> {
  const rows = await tx.all(
    `UPDATE statistics_hours SET rolled_at = $3, due_at = $3 WHERE site_id = $1 AND hour = $2 RETURNING hour`,
    [siteId, hour, finalAt],
  );
  return rows.length > 0;
}

/** The first of `ids` that make `most` rows together, always one, and those of them of which nothing waits. */
async function fitting(
  tx: Query,
  siteId: string,
  ids: readonly string[],
  most: number,
): Promise<{ ids: string[]; old: string[] }> {
  const [first = "", last = ""] = [ids[0], ids.at(-1)];
  const deliveries = await tx.all(
    `SELECT event_id, state, attempts FROM deliveries WHERE site_id = $1 AND event_id >= $2 AND event_id <= $3`,
    [siteId, first, last],
  );
  const byEvent = Map.groupBy(deliveries, (row) => String(row.event_id));
  const taken: string[] = [];
  const old: string[] = [];
  let rows = 0;
  for (const id of ids) {
    const its = byEvent.get(id) ?? [];
    rows += 1 + its.reduce((sum, row) => sum + 1 + Number(row.attempts), 0);
    if (rows > most && taken.length) break;
    taken.push(id);
    if (!its.some(({ state }) => state === "queued" || state === "parked")) old.push(id);
  }
  return { ids: taken, old };
}

async function removeEvents(tx: Query, siteId: string, ids: readonly string[]): Promise<number> {
  let removed = 0;
  for (const some of chunks(ids)) {
    const params = [siteId, ...some];
    for (const [table, column] of [
      ["attempts", "event_id"],
      ["deliveries", "event_id"],
      ["events", "id"],
    ]) {
      const rows = await tx.all(
        `DELETE FROM ${table} WHERE site_id = $1 AND ${column} IN (${list(some.length, 1)}) RETURNING 1 AS n`,
        params,
      );
      removed += rows.length;
    }
  }
  return removed;
}
