// The open questions to platforms, and how far the accepted deliveries of each connection were read. A question covers all
// events that the platform accepted together. Reading on and the questions that follow from it are one transaction, so a node
// that dies in between leaves a step to be repeated, and loses no event.

import { allByKeys, chunks, type Database, type Query, type RowQuery, type Value } from "../engine/database.ts";
import { readList } from "../damagedRows.ts";
import { asNumber, asText, describeRow } from "../describeRow.ts";
import type { ConnectionKey } from "../deliveries/delivery.ts";
import { confirmationsCursor, moveCursor, removeCursor } from "../cursors.ts";
import { headText, type ConfirmationHead } from "../deliveries/acceptedDeliveries.ts";

export type Question = ConnectionKey & {
  subject: string;
  eventIds: string[];
  /** When the first of its events was accepted. */
  acceptedAt: number;
  /** How often the platform was asked. */
  asked: number;
  dueAt: number;
};

export const questionRow = describeRow<Question, Question>({
  siteId: asText,
  connectionId: asText,
  subject: asText,
  eventIds: { column: "events", write: ({ eventIds }) => JSON.stringify(eventIds), read: readIds },
  acceptedAt: asNumber,
  asked: asNumber,
  dueAt: asNumber,
});

export type NewQuestion = Pick<Question, "subject" | "eventIds" | "acceptedAt" | "dueAt">;

/**
 * The open questions of a connection. Where more conversions are accepted than can be asked about, those that find no place
 * are not asked about: the others are answered in time, and the rows are few.
 */
export const maxOpenQuestions = 2000;

/** The events of a question. Only platforms that answer by day have as many; those beyond are not asked for. */
const maxEvents = 5000;

const keyOf = ({ siteId, connectionId, subject }: Question) => [siteId, connectionId, subject];

export function questionStore(db: Database) {
  return {
    /** Stores questions and moves the head. False when another node has moved it. */
    addQuestions: (
      of: ConnectionKey,
      before: ConfirmationHead | null,
      head: ConfirmationHead,
      questions: readonly NewQuestion[],
    ): Promise<boolean> =>
      db.write(async (tx) => {
        const name = confirmationsCursor(of.connectionId);
        if (!(await moveCursor(tx, of.siteId, name, before && headText(before), headText(head)))) return false;
        for (const some of chunks(questions)) await insertQuestions(tx, db.forUpdate, of, some);
        return true;
      }),

    async listDue({ siteId, connectionId }: ConnectionKey, now: number, limit: number): Promise<Question[]> {
      const rows = await db.all(
        `SELECT ${questionRow.list} FROM confirmation_requests
         WHERE site_id = $1 AND connection_id = $2 AND due_at <= $3 ORDER BY due_at LIMIT $4`,
        [siteId, connectionId, now, limit],
      );
      return rows.map(questionRow.read);
    },

    /** Notes that the platform is asked now, and when it is asked next. False when another node does. */
    async claim(question: Question, dueAt: number): Promise<boolean> {
      const rows = await db.run(
        `UPDATE confirmation_requests SET asked = asked + 1, due_at = $4
         WHERE site_id = $1 AND connection_id = $2 AND subject = $3 AND asked = $5 RETURNING asked`,
        [...keyOf(question), dueAt, question.asked],
      );
      return rows.length > 0;
    },

    /** Ends a question. It comes after its answer is written, so that a step that was interrupted is repeated. */
    async end(question: Question): Promise<void> {
      await db.run(
        `DELETE FROM confirmation_requests WHERE site_id = $1 AND connection_id = $2 AND subject = $3`,
        keyOf(question),
      );
    },
  };
}

/** Reads a damaged list as an empty one: its events stay unknown. */
function readIds(value: Value): string[] {
  return readList(String(value)).map(String);
}

/** The events of one request may be on two pages: a question that is there gets the others too. */
async function insertQuestions(
  tx: RowQuery,
  forUpdate: string,
  { siteId, connectionId }: ConnectionKey,
  questions: readonly NewQuestion[],
): Promise<void> {
  const key = [siteId, connectionId];
  const subjects = questions.map(({ subject }) => subject);
  const sql = `SELECT subject, events FROM confirmation_requests
    WHERE site_id = $1 AND connection_id = $2 AND subject IN ({KEYS}) ORDER BY subject ${forUpdate}`;
  const rows = await allByKeys(tx, sql, key, subjects);
  const known = new Map(rows.map((row) => [String(row.subject), readIds(row.events ?? null)]));
  const [open] = await tx.all(`SELECT COUNT(*) AS n FROM confirmation_requests WHERE site_id = $1 AND connection_id = $2`, key);
  let places = maxOpenQuestions - Number(open?.n);
  for (const { subject, eventIds, acceptedAt, dueAt } of questions) {
    const before = known.get(subject);
    const events = JSON.stringify([...new Set([...(before ?? []), ...eventIds])].slice(0, maxEvents));
    if (before)
      await tx.all(`UPDATE confirmation_requests SET events = $4 WHERE site_id = $1 AND connection_id = $2 AND subject = $3`, [
        ...key,
        subject,
        events,
      ]);
    else if (places-- > 0)
      await tx.all(
        `INSERT INTO confirmation_requests (site_id, connection_id, subject, events, accepted_at, asked, due_at)
         VALUES ($1, $2, $3, $4, $5, 0, $6) ON CONFLICT DO NOTHING`,
        [...key, subject, events, acceptedAt, dueAt],
      );
  }
}

/** Part of the transaction that removes the connection: nothing can be asked without it. */
export async function removeQuestions(tx: Query, siteId: string, connectionId: string): Promise<void> {
  const key = [siteId, connectionId];
  await tx.all(`DELETE FROM corrections WHERE site_id = $1 AND connection_id = $2 AND state = 'waiting'`, key);
  await tx.all(`DELETE FROM quality_snapshots WHERE site_id = $1 AND connection_id = $2`, key);
  await tx.all(`DELETE FROM confirmation_requests WHERE site_id = $1 AND connection_id = $2`, key);
  await removeCursor(tx, siteId, confirmationsCursor(connectionId));
}
