// Reads events with their deliveries and attempts in the order of their ids, for files of data. Requests and responses stay here:
// they hold hashes of people.

import { idAt } from "../../kernel/ids.ts";
import { attemptRow } from "../deliveries/delivery.ts";
import { deliverySource, readDeliveries, readPlanned } from "../deliveries/readDeliveries.ts";
import { readOutcomesOf } from "../deliveries/outcomes.ts";
import { allByKeys, type Database } from "../engine/database.ts";
import { emailColumn } from "./eventList.ts";
import { readCounted, summaryColumns } from "./eventRow.ts";

export type ExportRows = Awaited<ReturnType<ReturnType<typeof exportRowStore>["listHour"]>>;

const attemptFields = ["connectionId", "number", "startedAt", "durationMs", "state", "reason", "httpStatus", "batch"] as const;
const attemptColumns = `event_id, ${attemptRow.columnsOf(attemptFields).join(", ")}`;

export function exportRowStore(db: Database) {
  return {
    /** Lists events whose ids are of the time from `from` until before `to`; `after` is the last id of the previous page. */
    async listHour(siteId: string, { from, to, after }: { from: number; to: number; after: string | null }, limit: number) {
      const rows = await db.all(
        `SELECT ${summaryColumns}, ${emailColumn}, time, key_id, ${deliverySource} FROM events
         WHERE site_id = $1 AND id ${after === null ? ">=" : ">"} $2 AND id < $3 ORDER BY id LIMIT $4`,
        [siteId, after ?? idAt(from), idAt(to), limit],
      );
      const ids = rows.map((row) => String(row.id));
      const deliveries = await readDeliveries(db, siteId, rows);
      const { outcomes } = await readOutcomesOf(db, siteId, ids);
      const sql = `SELECT ${attemptColumns} FROM attempts WHERE site_id = $1 AND event_id IN ({KEYS})`;
      const stored = Map.groupBy(await allByKeys(db, sql, [siteId], ids), (row) => String(row.event_id));
      return rows.map((row) => {
        const id = String(row.id);
        const { plan } = readPlanned(row);
        const sentAtOnce = (outcomes.get(id) ?? []).flatMap(({ position, sent }) => {
          const connectionId = plan[position]?.connectionId;
          if (!sent || connectionId === undefined) return [];
          const { startedAt, durationMs, httpStatus, batch } = sent;
          return [{ connectionId, number: 1, startedAt, durationMs, state: "sent" as const, reason: null, httpStatus, batch }];
        });
        const attempts = (stored.get(id) ?? []).map((one) => attemptRow.readSome(one, attemptFields));
        return {
          ...readCounted(row),
          siteId,
          time: Number(row.time),
          keyId: String(row.key_id),
          emailSha256: String(row.email_sha256),
          deliveries: deliveries.get(id) ?? [],
          attempts: [...sentAtOnce, ...attempts],
        };
      });
    },
  };
}
