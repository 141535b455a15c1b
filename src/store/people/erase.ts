// Erases a person from events: the events stay countable, the person does not stay identifiable. Each transaction changes
// one chunk, so that it does not block the store. An erasure can be run again.

import { yieldToEventLoop } from "../../kernel/deadline.ts";
import { allByKeys, chunks, type Database, type Row } from "../engine/database.ts";
import { eraseMasks } from "../../kernel/maskAddresses.ts";
import type { Sha256 } from "../../kernel/event.ts";
import { eraseDeliveries } from "../deliveries/eraseDeliveries.ts";
import { emailRef } from "../events/eventRow.ts";
import { packAttribution } from "./personCodec.ts";

export function eraseStore(db: Database) {
  return {
    /**
     * Removes hashes, ids and extra fields from every event of the person, and requests and responses from the log.
     * Queued and parked deliveries are skipped. Returns how many events there were.
     */
    async events(siteId: string, emailSha256: Sha256, now: number): Promise<number> {
      const rows = await db.all(
        `SELECT id, name, order_id, order_key FROM events
         WHERE site_id = $1 AND email_ref = $2 AND SUBSTR(person, 1, 64) = $3`,
        [siteId, emailRef(emailSha256), emailSha256],
      );
      for (const some of chunks(rows)) {
        const ids = some.map((row) => String(row.id));
        await db.write(async (tx) => {
          // Events first: a concurrent replay locks them too, so that the later of the two sees what the earlier one did.
          await allByKeys(
            tx,
            `UPDATE events SET email_ref = NULL, person = '', attribution = $2, extra = NULL
             WHERE site_id = $1 AND id IN ({KEYS})`,
            [siteId, erasedAttribution],
            ids,
          );
          for (const row of some.filter(hasMask))
            await tx.all(
              `UPDATE events SET name = $3, order_id = $4, order_key = $5, order_event_id = NULL WHERE site_id = $1 AND id = $2`,
              [siteId, String(row.id), ...masksErased(row)],
            );
          await eraseDeliveries(tx, siteId, ids, now);
        });
        await yieldToEventLoop();
      }
      return rows.length;
    },
  };
}

/** The name, the order id and its key without what they say about addresses. */
const masksErased = ({ name, order_id: orderId, order_key: key }: Row) =>
  [name, orderId, key].map((text) => (text == null ? null : eraseMasks(String(text))));

const hasMask = (row: Row) => {
  const [name, orderId] = masksErased(row);
  return name !== row.name || orderId !== row.order_id;
};

const erasedAttribution = packAttribution({
  consent: "denied",
  withheld: "opted out",
  identity: "none",
  clickIds: {},
  browserIds: {},
  utm: {},
  browser: null,
});
