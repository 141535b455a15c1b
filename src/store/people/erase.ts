// Erases a person from events: the events stay countable, the person does not stay identifiable. Each transaction changes
// one chunk, so that it does not block the store. An erasure can be run again.

import { yieldToEventLoop } from "../../kernel/deadline.ts";
import { chunks, list, type Database } from "../engine/database.ts";
import type { Sha256 } from "../../kernel/event.ts";

export function eraseStore(db: Database) {
  return {
    /**
     * Removes hashes, ids and extra fields from every event of the person, and requests and responses from the log.
     * Queued and parked deliveries are skipped. Returns how many events there were.
     */
    async events(siteId: string, emailSha256: Sha256, now: number): Promise<number> {
      const rows = await db.all(`SELECT id FROM events WHERE site_id = $1 AND email_sha256 = $2`, [
        siteId,
        emailSha256,
      ]);
      const ids = rows.map((row) => String(row.id));
      for (const some of chunks(ids)) {
        const wanted = `site_id = $1 AND event_id IN (${list(some.length, 2)})`;
        await db.write(async (tx) => {
          // Events first: a concurrent replay locks them too, so that the later of the two sees what the earlier one did.
          await tx.all(
            `UPDATE events SET email_sha256 = '', person = $2, attribution = $3, extra = NULL
             WHERE site_id = $1 AND id IN (${list(some.length, 3)})`,
            [siteId, JSON.stringify({ emailSha256: "" }), erasedAttribution, ...some],
          );
          await tx.all(
            `UPDATE deliveries SET state = 'skipped', reason = 'person erased', owner = '', updated_at = $2
             WHERE ${wanted} AND state IN ('queued', 'parked')`,
            [siteId, now, ...some],
          );
          await tx.all(`UPDATE attempts SET request = $2, response = NULL WHERE ${wanted}`, [
            siteId,
            "(erased)",
            ...some,
          ]);
        });
        await yieldToEventLoop();
      }
      return ids.length;
    },
  };
}

const erasedAttribution = JSON.stringify({
  consent: "denied",
  withheld: "opted out",
  identity: "none",
  clickIds: {},
  browserIds: {},
  utm: {},
  browser: null,
});
