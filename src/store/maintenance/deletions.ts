// Counts what a deletion would remove, so that people are asked first, and how many deletions there were, for metrics: the
// command line has no metrics of its own.

import { idAt } from "../../kernel/ids.ts";
import { hourMs } from "../../kernel/time.ts";
import type { Sha256 } from "../../kernel/event.ts";
import { selectAnswers } from "../deliveries/syncLog/changes.ts";
import { emailRef } from "../events/eventRow.ts";
import type { Database, Value } from "../engine/database.ts";

/** No count goes beyond: a larger number would not change the decision. */
export const maxCounted = 1_000_000;

const deletionKinds = ["site", "connection", "webhook", "person", "retention"] as const;
/** `retention`: a site keeps events, people or the sync log for a shorter time than before. */
type DeletionKind = (typeof deletionKinds)[number];

export type SiteContents = { events: number; identities: number; visitors: number };

export function deletionStore(db: Database) {
  async function count(rows: string, params: readonly Value[]): Promise<number> {
    const [row] = await db.all(`SELECT COUNT(*) AS n FROM (${rows} LIMIT ${maxCounted}) AS counted`, params);
    return Number(row?.n);
  }

  return {
    /** Counts the events that are purged where a site keeps them since `before`. */
    eventsBefore: (siteId: string, before: number): Promise<number> =>
      count(`SELECT id FROM events WHERE site_id = $1 AND id < $2`, [siteId, idAt(Math.floor(before / hourMs) * hourMs)]),

    /** Counts the people and browsers that have visits or click ids from before `before`. */
    async peopleBefore(siteId: string, before: number): Promise<number> {
      const params = [siteId, before];
      const identities = `SELECT email_sha256 FROM identities WHERE site_id = $1 AND oldest_at < $2`;
      const visitors = `SELECT visitor_id FROM visitors WHERE site_id = $1 AND oldest_at < $2`;
      return (await count(identities, params)) + (await count(visitors, params));
    },

    /** Counts the requests and responses in the sync log from before `before`. */
    async answersBefore(siteId: string, before: number): Promise<number> {
      const { first, later } = await selectAnswers(db, siteId, before);
      return (await count(...first)) + (await count(...later));
    },

    eventsOfPerson: (siteId: string, emailSha256: Sha256): Promise<number> =>
      count(`SELECT id FROM events WHERE site_id = $1 AND email_ref = $2 AND SUBSTR(person, 1, 64) = $3`, [
        siteId,
        emailRef(emailSha256),
        emailSha256,
      ]),

    /** Counts the queued and parked deliveries of a connection; those of first attempts under way have no row yet. */
    waitingOfConnection: (siteId: string, connectionId: string): Promise<number> =>
      count(`SELECT event_id FROM deliveries WHERE site_id = $1 AND connection_id = $2 AND state IN ('queued', 'parked')`, [
        siteId,
        connectionId,
      ]),

    async contentsOf(siteId: string): Promise<SiteContents> {
      return {
        events: await count(`SELECT id FROM events WHERE site_id = $1`, [siteId]),
        identities: await count(`SELECT email_sha256 FROM identities WHERE site_id = $1`, [siteId]),
        visitors: await count(`SELECT visitor_id FROM visitors WHERE site_id = $1`, [siteId]),
      };
    },

    /** Counts a deletion that was made. */
    async add(kind: DeletionKind): Promise<void> {
      await db.run(
        `INSERT INTO settings (name, value) VALUES ($1, '1') ON CONFLICT (name) DO UPDATE
         SET value = CAST(CAST(settings.value AS bigint) + 1 AS text)`,
        [settingOf(kind)],
      );
    },

    /** Returns how many deletions there were since the installation was created. */
    async readTotals(): Promise<Record<DeletionKind, number>> {
      const rows = await db.all(`SELECT name, value FROM settings WHERE name LIKE 'deleted %'`);
      const values = new Map(rows.map((row) => [String(row.name), Number(row.value)]));
      return Object.fromEntries(deletionKinds.map((kind) => [kind, values.get(settingOf(kind)) ?? 0])) as Record<
        DeletionKind,
        number
      >;
    },
  };
}

const settingOf = (kind: DeletionKind) => `deleted ${kind}`;
