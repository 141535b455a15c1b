// What senders' own ids stand for: a customer id for a person, another id of an order for its order id. Later events that carry
// such an id alone find the person or the order by it. Ids are stored as hashes. A customer whom an event named is looked up in
// that event: a row of every sale stays small, and an event that is erased takes its person along.

import { hash } from "node:crypto";
import type { Person, Sha256 } from "../../kernel/event.ts";
import { allByKeys, rowStatement, type Database, type Row, type RowQuery, type Value } from "../engine/database.ts";
import { groupsFor, inGroups } from "../engine/groupCommit.ts";
import { emailRef, packPerson, readPerson, refOf } from "../events/eventRow.ts";
import type { PurgeStep } from "../maintenance/purge.ts";

export type SenderRef = {
  siteId: string;
  sourceId: string;
  ref: string;
  /** The stored event that has the person. */
  eventId: string | null;
  person: Person | null;
  orderId: string | null;
  seenAt: number;
};

type KnownRef = Pick<SenderRef, "eventId" | "person" | "orderId">;

/** `kind` keeps a customer and an order with the same id apart. */
export const senderRef = (sourceId: string, kind: "customer" | "order", id: string) =>
  hash("sha256", JSON.stringify([sourceId, kind, id]), "base64url").slice(0, 27);

// An older request that arrives late must not replace what a newer one said.
const saveRefs = rowStatement({
  text: `INSERT INTO sender_refs (site_id, source_id, ref, event_id, email_ref, person, order_id, seen_at) VALUES {ROWS}
    ON CONFLICT (site_id, source_id, ref) DO UPDATE SET event_id = excluded.event_id, email_ref = excluded.email_ref, person = excluded.person,
      order_id = excluded.order_id, seen_at = excluded.seen_at
    WHERE sender_refs.seen_at <= excluded.seen_at`,
  columns: 8,
  key: { site_id: 0, source_id: 1, ref: 2 },
  types: ["text", "text", "text", "text", "bigint", "text", "text", "bigint"],
});

const valuesOf = ({ siteId, sourceId, ref, eventId, person, orderId, seenAt }: SenderRef): Value[] => [
  siteId,
  sourceId,
  ref,
  eventId,
  person && refOf(person),
  person && packPerson(person),
  orderId,
  seenAt,
];

/** Writes what events and requests teach, as part of their transaction. Of several with one id the newest counts. */
export async function writeRefs(tx: RowQuery, refs: readonly SenderRef[]): Promise<void> {
  const newest = new Map<string, SenderRef>();
  for (const one of refs.toSorted((a, b) => a.seenAt - b.seenAt)) newest.set(`${one.siteId} ${one.sourceId} ${one.ref}`, one);
  // Sorted, so that two transactions that write the same ids cannot deadlock.
  const sorted = [...newest].toSorted((one, other) => (one[0] < other[0] ? -1 : 1)).map(([, ref]) => ref);
  if (sorted.length > 0) await tx.change(saveRefs, sorted.map(valuesOf));
}

export function senderRefStore(db: Database) {
  const save = inGroups<readonly SenderRef[], void>(async (_group, items) => {
    await db.write((tx) => writeRefs(tx, items.flat()));
    return items.map(() => undefined);
  }, groupsFor(db));

  return {
    /** Durable when it resolves. */
    save: (siteId: string, refs: readonly SenderRef[]): Promise<void> => save(db.commitGroup(siteId), refs),

    /** Returns what is known of the ids, by ref. */
    async find(siteId: string, sourceId: string, refs: readonly string[]): Promise<Map<string, KnownRef>> {
      const sql = `SELECT ref, event_id, person, order_id FROM sender_refs WHERE site_id = $1 AND source_id = $2 AND ref IN ({KEYS})`;
      const rows = await allByKeys(db, sql, [siteId, sourceId], refs);
      return new Map(rows.map((row) => [String(row.ref), knownOf(row)]));
    },

    /** Lists what is stored about a person besides the events, for an export. */
    async listByPerson(
      siteId: string,
      emailSha256: Sha256,
    ): Promise<{ sourceId: string; orderId: string | null; seenAt: number }[]> {
      const rows = await db.all(
        `SELECT source_id, order_id, seen_at FROM sender_refs
         WHERE site_id = $1 AND email_ref = $2 AND SUBSTR(person, 1, 64) = $3 ORDER BY source_id, ref`,
        [siteId, emailRef(emailSha256), emailSha256],
      );
      return rows.map((row) => ({
        sourceId: String(row.source_id),
        orderId: row.order_id as string | null,
        seenAt: Number(row.seen_at),
      }));
    },

    async erasePerson(siteId: string, emailSha256: Sha256): Promise<number> {
      const rows = await db.run(
        `DELETE FROM sender_refs WHERE site_id = $1 AND email_ref = $2 AND SUBSTR(person, 1, 64) = $3 RETURNING ref`,
        [siteId, emailRef(emailSha256), emailSha256],
      );
      return rows.length;
    },

    /** Reads up to `max` ids after `after`, and removes those that were not seen since `before`. */
    async purge(siteId: string, before: number, after: string, max: number): Promise<PurgeStep> {
      const [source = "", last = ""] = after.split(" ");
      const rows = await db.all(
        `SELECT source_id, ref, seen_at FROM sender_refs WHERE site_id = $1 AND (source_id, ref) > ($2, $3)
         ORDER BY source_id, ref LIMIT $4`,
        [siteId, source, last, max],
      );
      let removed = 0;
      const old = rows.filter((row) => Number(row.seen_at) < before);
      for (const [sourceId, some] of Map.groupBy(old, (row) => String(row.source_id))) {
        const sql = `DELETE FROM sender_refs WHERE site_id = $1 AND source_id = $2 AND seen_at < $3 AND ref IN ({KEYS}) RETURNING ref`;
        const refs = some.map((row) => String(row.ref));
        removed += (await db.write((tx) => allByKeys(tx, sql, [siteId, sourceId, before], refs))).length;
      }
      const end = rows.at(-1);
      return { removed, next: rows.length < max || !end ? null : `${String(end.source_id)} ${String(end.ref)}` };
    },
  };
}

const knownOf = ({ person, event_id: eventId, order_id: orderId }: Row): KnownRef => ({
  eventId: eventId as string | null,
  person: person == null ? null : readPerson(String(person)),
  orderId: orderId as string | null,
});
