// Identity records and consent records: what is known of the person behind a hashed email.

import { consentStates, type ConsentReading, type ConsentState, type Identity } from "../event.ts";
import { list, chunks, type Database, type Row } from "./database.ts";
import { grouped } from "./group.ts";

export type ConsentRecord = { state: ConsentState; source: string; decidedAt: number };

const nobody: Identity = { visits: [], firstUtm: {}, forms: {} };

export function peopleStore(db: Database) {
  // SQLite answers a point query faster than a batch can be gathered; PostgreSQL gets one query for many people.
  const identityRow = batched(db, (key, hashes) =>
    db.all(
      `SELECT email_hash AS subject, record FROM identities WHERE site_id = $1 AND email_hash IN (${list(hashes.length, 1)})`,
      [key, ...hashes],
    ),
  );
  const consentRow = batched(db, (key, subjects) =>
    db.all(
      `SELECT subject, state FROM consents WHERE site_id = $1 AND subject IN (${list(subjects.length, 1)})`,
      [key, ...subjects],
    ),
  );

  return {
    async identity(siteId: string, emailHash: string): Promise<Identity | null> {
      const row = await identityRow(siteId, emailHash);
      return row ? identityOf(JSON.parse(String(row.record))) : null;
    },

    /** Reads, changes and writes a record as one step; two changes at once both count. */
    async changeIdentity(
      siteId: string,
      emailHash: string,
      at: number,
      change: (known: Identity) => Identity,
    ): Promise<void> {
      const key = [siteId, emailHash];
      await db.write(async (tx) => {
        await tx.all(
          `INSERT INTO identities (site_id, email_hash, record, updated_at) VALUES ($1, $2, $3, $4)
           ON CONFLICT (site_id, email_hash) DO NOTHING`,
          [...key, JSON.stringify(nobody), at],
        );
        const lock = db.engine === "postgres" ? "FOR UPDATE" : "";
        const [row] = await tx.all(
          `SELECT record FROM identities WHERE site_id = $1 AND email_hash = $2 ${lock}`,
          key,
        );
        const changed = change(JSON.parse(String(row?.record)));
        await tx.all(
          `UPDATE identities SET record = $3, updated_at = $4 WHERE site_id = $1 AND email_hash = $2`,
          [...key, JSON.stringify(changed), at],
        );
      });
    },

    /** `unknown` when there is no record; `unreadable` when the record is not one of ours. Throws when the store fails. */
    async consent(siteId: string, subject: string): Promise<ConsentReading> {
      const row = await consentRow(siteId, subject);
      if (!row) return "unknown";
      return consentStates.includes(row.state as ConsentState) ? (row.state as ConsentState) : "unreadable";
    },

    async saveConsent(siteId: string, subject: string, record: ConsentRecord): Promise<void> {
      await db.write((tx) =>
        tx.all(
          `INSERT INTO consents (site_id, subject, state, source, decided_at) VALUES ($1, $2, $3, $4, $5)
           ON CONFLICT (site_id, subject) DO UPDATE SET state = excluded.state, source = excluded.source,
             decided_at = excluded.decided_at`,
          [siteId, subject, record.state, record.source, record.decidedAt],
        ),
      );
    },
  };
}

/** A record of another shape must not become an error for every event of that person. */
function identityOf(record: unknown): Identity {
  const { visits } = (record ?? {}) as Partial<Identity>;
  const whole =
    Array.isArray(visits) && visits.every((visit) => visit?.clickIds && visit.browserIds && visit.utm);
  if (!whole) throw new Error("the identity record is damaged");
  return record as Identity;
}

/** One row per (site, subject); on PostgreSQL the look-ups of one moment and site share a query. */
function batched(
  db: Database,
  read: (siteId: string, subjects: readonly string[]) => Promise<Row[]>,
): (siteId: string, subject: string) => Promise<Row | undefined> {
  if (db.engine === "sqlite") return async (siteId, subject) => (await read(siteId, [subject]))[0];
  return grouped<string, Row | undefined>(
    async (siteId, subjects) => {
      const found = new Map<string, Row>();
      for (const some of chunks([...new Set(subjects)])) {
        for (const row of await read(siteId, some)) found.set(String(row.subject), row);
      }
      return subjects.map((subject) => found.get(subject));
    },
    { blamesData: db.blamesData },
  );
}
