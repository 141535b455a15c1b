// The weekly message of a site: when it is due, and what became of the last one. A node claims each channel before it sends: of
// several nodes one does.

import { readObject } from "../damagedRows.ts";
import { asNumber, asText, describeRow } from "../describeRow.ts";
import { insertRow, orReplace, type Database } from "../engine/database.ts";

/** `sending` that stays was sent or not: the node died in between. It is not repeated, so that nobody gets it twice. */
export type SendState = {
  state: "sending" | "sent" | "failed";
  at: number;
  tries: number;
  error: string | null;
  /** The node that writes it. */
  by: string;
};

export type WeeklyReport = {
  siteId: string;
  /** The schedule that `nextAt` was computed from. */
  schedule: string;
  nextAt: number;
  /** The time of the last message; 0 before the first. */
  dueAt: number;
  /** What became of it, by channel. */
  results: Readonly<Record<string, SendState>>;
};

export function weeklyReportStore(db: Database) {
  const row = describeRow<WeeklyReport, WeeklyReport>({
    siteId: asText,
    schedule: asText,
    nextAt: asNumber,
    dueAt: asNumber,
    results: { column: "results", read: (text) => (readObject(String(text)) ?? {}) as WeeklyReport["results"] },
  });

  return {
    async find(siteId: string): Promise<WeeklyReport | null> {
      const [found] = await db.all(`SELECT ${row.list} FROM weekly_reports WHERE site_id = $1`, [siteId]);
      return found ? row.read(found) : null;
    },

    async listAll(): Promise<WeeklyReport[]> {
      return (await db.all(`SELECT ${row.list} FROM weekly_reports ORDER BY site_id`)).map(row.read);
    },

    /** Sets a new schedule. The last message stays as it is. */
    async schedule(siteId: string, schedule: string, nextAt: number): Promise<void> {
      const set = { site_id: siteId, schedule, next_at: nextAt, due_at: 0, results: "{}" };
      await insertRow(db, "weekly_reports", set, orReplace("site_id", "schedule", "next_at"));
    },

    async remove(siteId: string): Promise<void> {
      await db.run(`DELETE FROM weekly_reports WHERE site_id = $1`, [siteId]);
    },

    /** Begins the message that is due, unless another node did; `following` is the time of the next one. */
    async begin({ siteId, schedule, nextAt }: WeeklyReport, following: number): Promise<void> {
      await db.run(
        `UPDATE weekly_reports SET next_at = $4, due_at = $3, results = '{}'
         WHERE site_id = $1 AND schedule = $2 AND next_at = $3`,
        [siteId, schedule, nextAt, following],
      );
    },

    /** Writes the state of a channel; null when another node has written one meanwhile. */
    async saveResult(report: WeeklyReport, channel: string, result: SendState): Promise<WeeklyReport | null> {
      const results = { ...report.results, [channel]: result };
      const rows = await db.run(
        `UPDATE weekly_reports SET results = $4 WHERE site_id = $1 AND due_at = $2 AND results IN ($3, $4) RETURNING site_id`,
        [report.siteId, report.dueAt, JSON.stringify(report.results), JSON.stringify(results)],
      );
      return rows.length > 0 ? { ...report, results } : null;
    },
  };
}
