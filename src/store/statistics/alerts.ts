// Alerts: what needs a person, since when, and who was told. One is open per site, kind and subject; that it began and
// that it ended is written once, whatever nodes look at the same moment.

import type { AlertKind } from "../../kernel/event.ts";
import { alertFacts } from "./alertFacts.ts";
import { columns } from "../schema/columns.ts";
import { list, type Database, type Row } from "../engine/database.ts";
import { turnStore } from "../engine/leases.ts";

/** What a look found: `subject` is a connection, a webhook, a host, or empty for the site. */
export type Finding = { kind: AlertKind; subject: string; text: string };

/** What one channel was told of an alert. */
export type Note = {
  told: "began" | "over" | null;
  toldAt: number;
  /** When it was last tried; how it failed, where it did. */
  triedAt: number;
  isTrying: boolean;
  /** The node that wrote this: two that try in the same moment must differ. */
  by: string;
  error: string | null;
};

export type Alert = Finding & {
  siteId: string;
  beganAt: number;
  notifiedAt: number | null;
  endedAt: number | null;
  /** By channel. */
  told: Readonly<Record<string, Note>>;
};

export function alertStore(db: Database) {
  return {
    ...alertFacts(db),
    ...turnStore(db, "alert_turns"),

    /**
     * Makes what is stored agree with what was found: begins and ends alerts. One that was not found ends when it has
     * not been for `quietMs` of its kind.
     */
    async reconcile(
      siteId: string,
      findings: readonly Finding[],
      now: number,
      quietMs: Readonly<Record<AlertKind, number>>,
    ): Promise<void> {
      const sorted = findings.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
      const found = new Set(findings.map(keyOf));
      await db.write(async (tx) => {
        for (const { kind, subject, text } of sorted) {
          await tx.all(
            `INSERT INTO alerts (site_id, kind, subject, began_at, seen_at, text, told) VALUES ($1, $2, $3, $4, $4, $5, '{}')
             ON CONFLICT (site_id, kind, subject) WHERE ended_at IS NULL
             DO UPDATE SET seen_at = excluded.seen_at, text = excluded.text`,
            [siteId, kind, subject, now, text],
          );
        }
        const open = await tx.all(
          `SELECT kind, subject, seen_at FROM alerts WHERE site_id = $1 AND ended_at IS NULL ORDER BY kind, subject`,
          [siteId],
        );
        for (const row of open) {
          const [kind, subject] = [row.kind as AlertKind, String(row.subject)];
          if (found.has(keyOf({ kind, subject })) || Number(row.seen_at) > now - (quietMs[kind] ?? 0))
            continue;
          await tx.all(
            `UPDATE alerts SET ended_at = $4 WHERE site_id = $1 AND kind = $2 AND subject = $3 AND ended_at IS NULL`,
            [siteId, kind, subject, now],
          );
        }
      });
    },

    /** Ends what is open about a subject, as soon as it is known to be over. Who was told that it began hears at the next look. */
    async end(siteId: string, subject: string, kinds: readonly AlertKind[], now: number): Promise<void> {
      await db.write((tx) =>
        tx.all(
          `UPDATE alerts SET ended_at = $3
           WHERE site_id = $1 AND subject = $2 AND ended_at IS NULL AND kind IN (${list(kinds.length, 3)})`,
          [siteId, subject, now, ...kinds],
        ),
      );
    },

    /** Those that are open, and those that ended since; newest first. */
    async listSince(siteId: string, endedAfter: number, limit = 1000): Promise<Alert[]> {
      const rows = await db.all(
        `SELECT ${columns.alerts} FROM alerts WHERE site_id = $1 AND (ended_at IS NULL OR ended_at > $2)
         ORDER BY began_at DESC, kind, subject LIMIT $3`,
        [siteId, endedAfter, limit],
      );
      return rows.map(alertOf);
    },

    /** Writes what a channel was told, unless somebody else has written meanwhile. */
    async saveNote(alert: Alert, channel: string, note: Note): Promise<Alert | null> {
      const told = { ...alert.told, [channel]: note };
      const notifiedAt = note.told && !note.isTrying && !note.error ? note.toldAt : alert.notifiedAt;
      const rows = await db.write((tx) =>
        tx.all(
          `UPDATE alerts SET told = $5, notified_at = $6
           WHERE site_id = $1 AND kind = $2 AND subject = $3 AND began_at = $4 AND told IN ($7, $5) RETURNING kind`,
          [
            alert.siteId,
            alert.kind,
            alert.subject,
            alert.beganAt,
            JSON.stringify(told),
            notifiedAt,
            JSON.stringify(alert.told),
          ],
        ),
      );
      return rows.length ? { ...alert, told, notifiedAt } : null;
    },

    /** Forgets alerts that ended before `before`. */
    async purge(siteId: string, before: number): Promise<void> {
      await db.write((tx) =>
        tx.all(`DELETE FROM alerts WHERE site_id = $1 AND ended_at < $2`, [siteId, before]),
      );
    },
  };
}

export const keyOf = ({ kind, subject }: Pick<Finding, "kind" | "subject">) => `${kind} ${subject}`;

function alertOf(row: Row): Alert {
  return {
    siteId: String(row.site_id),
    kind: row.kind as AlertKind,
    subject: String(row.subject),
    text: String(row.text),
    beganAt: Number(row.began_at),
    notifiedAt: row.notified_at === null ? null : Number(row.notified_at),
    endedAt: row.ended_at === null ? null : Number(row.ended_at),
    told: JSON.parse(String(row.told)),
  };
}
