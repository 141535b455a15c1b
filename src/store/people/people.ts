// Identity records, visitors and consent.
//
// Consent has a row per giver. Givers for a person are each visitor who granted, each browser that refused, the operator, and all further
// browsers as one; a visitor's own consent has a row per source. A refusal in any row is a refusal, until its giver withdraws it.

import {
  consentStates,
  type ConsentReading,
  type ConsentState,
  type Identity,
  type Sha256,
  type Visitor,
} from "../../kernel/event.ts";
import { columns } from "../schema/columns.ts";
import { allByKeys, insertRow, list, orReplace, padded, type Database, type Query, type Row } from "../engine/database.ts";
import { batchWhenFrequent } from "../engine/adaptiveBatching.ts";
import { groupsFor, inGroups } from "../engine/groupCommit.ts";
import { peopleKeys, peoplePurgeStore, removeRecord, saveRecord, type PeopleTable } from "./purgePeople.ts";
import { packRecord, unpackRecord } from "./personCodec.ts";

export type Decision = { subject: string; givenBy: string; state: ConsentReading; decidedAt: number };

/** `unreadable` is a damaged record. */
export type FoundPerson = { consent: ConsentReading; identity: Identity | null | "unreadable" };

/** The giver of decisions that an operator enters. */
export const operator = "operator";
/** The givers of what browsers decide beyond those that are kept one by one. Like the operator's they are no ids of visitors. */
export const otherBrowsers = { granted: "other browsers that agreed", denied: "other browsers that refused" } as const;

/** What was found in a page of rows; `next` is where the next page begins, and null after the last one. */
export type PeoplePage<Item> = { items: Item[]; next: string | null };

/** A page takes about a tenth of a millisecond of the thread that accepts events. */
const pageRows = 100;
const nextOf = (rows: readonly Row[], key: string) => (rows.length < pageRows ? null : String(rows.at(-1)?.[key]));

const newIdentity: Identity = { visits: [], firstUtm: {}, forms: {} };
const newVisitor: Visitor = { visits: [], emailSha256s: [] };

/** The rows of one site's people inside a transaction, which holds their locks until it ends. */
export type PeopleRows = ReturnType<typeof rowsOn>;

export function peopleStore(db: Database, newId: () => string, isSharded: boolean, now: () => number = Date.now) {
  // SQLite answers a point query faster than a batch can fill; PostgreSQL gets one query for many people.
  const personRows = batched(
    db,
    isSharded,
    (hashes) =>
      `SELECT subject, state, NULL AS record FROM consents WHERE site_id = $1 AND subject IN (${hashes})
       UNION ALL
       SELECT email_sha256, NULL, record FROM identities WHERE site_id = $1 AND email_sha256 IN (${hashes})`,
  );
  const consentRows = batched(
    db,
    isSharded,
    (subjects) => `SELECT subject, given_by, state, decided_at FROM consents WHERE site_id = $1 AND subject IN (${subjects})`,
  );

  type Change = { siteId: string; by: number; work: (rows: PeopleRows) => Promise<unknown> };
  const changeInGroup = inGroups<Change, unknown>(
    (_group, changes) =>
      db.write(async (tx) => {
        const results: unknown[] = [];
        for (const { siteId, work } of changes) results.push(await work(rowsOn(tx, db, siteId, newId)));
        return results;
      }),
    {
      ...groupsFor(db),
      siteOf: ({ siteId }) => siteId,
      // An error that is not the database's comes from the work itself: a damaged record, for example.
      isDataError: (error) => db.isDataError(error) || !db.isOwnError(error),
      isLate: ({ by }) => by < now(),
    },
  );

  /** `unknown` without a record. Throws when the store fails, which the caller must treat as a refusal. */
  const readConsent = async (siteId: string, emailSha256: Sha256): Promise<ConsentReading> =>
    effectiveConsent((await consentRows(siteId, emailSha256)).map(stateOf));

  return {
    /**
     * Reads consent and identity record of a person in one query, for an event. Throws when consent cannot be read, which
     * the caller must treat as a refusal.
     */
    async lookUp(siteId: string, emailSha256: Sha256): Promise<FoundPerson> {
      let rows: Row[];
      try {
        rows = await personRows(siteId, emailSha256);
      } catch {
        // Identity records that cannot be read must not hide the consent.
        return { consent: await readConsent(siteId, emailSha256), identity: "unreadable" };
      }
      const states: ConsentReading[] = [];
      let identity: FoundPerson["identity"] = null;
      for (const row of rows) {
        if (typeof row.record === "string") identity = tryReadIdentity(row.record, emailSha256);
        else states.push(stateOf(row));
      }
      return { consent: effectiveConsent(states), identity };
    },

    async findIdentity(siteId: string, emailSha256: Sha256): Promise<Identity | null> {
      const [row] = await db.all(`SELECT record FROM identities WHERE site_id = $1 AND email_sha256 = $2`, [siteId, emailSha256]);
      return row ? readIdentity(String(row.record), emailSha256) : null;
    },

    async findVisitor(siteId: string, visitorId: string): Promise<Visitor | null> {
      const [row] = await db.all(`SELECT record FROM visitors WHERE site_id = $1 AND visitor_id = $2`, [siteId, visitorId]);
      return row ? (unpackRecord(String(row.record), visitorId) as Visitor) : null;
    },

    async listDecisions(siteId: string, subject: string): Promise<Decision[]> {
      return (await consentRows(siteId, subject)).map(decisionOf);
    },

    readConsent,

    /** Lists the decisions ever made about a person or visitor, oldest first: a page of those after `after`. */
    async listHistory(siteId: string, subject: string, after = ""): Promise<PeoplePage<Decision>> {
      const rows = await db.all(
        `SELECT ${columns.consent_history} FROM consent_history WHERE site_id = $1 AND subject = $2 AND id > $3
         ORDER BY id LIMIT $4`,
        [siteId, subject, after, pageRows],
      );
      return { items: rows.map(decisionOf), next: nextOf(rows, "id") };
    },

    /**
     * Finds the visitors who gave this email, among a page of the site's visitors after `after`. It reads all of them, because an index
     * of what nobody but an export and an erasure asks for would cost every visit a row.
     */
    async findVisitors(siteId: string, emailSha256: Sha256, after = ""): Promise<PeoplePage<string>> {
      const rows = await db.all(
        `SELECT visitor_id, CASE WHEN record LIKE $3 THEN 1 ELSE 0 END AS has_given FROM visitors
         WHERE site_id = $1 AND visitor_id > $2 ORDER BY visitor_id LIMIT $4`,
        [siteId, after, `%${emailSha256}%`, pageRows],
      );
      const items = rows.filter((row) => Number(row.has_given) === 1).map((row) => String(row.visitor_id));
      return { items, next: nextOf(rows, "visitor_id") };
    },

    /**
     * Runs `work` in a durable transaction, shared with other changes of the same moment. Fails if it has not begun by
     * `by`.
     */
    change<T>(siteId: string, work: (rows: PeopleRows) => Promise<T>, by = Infinity): Promise<T> {
      return changeInGroup(db.commitGroup(siteId), { siteId, by, work }) as Promise<T>;
    },

    ...peoplePurgeStore(db),
  };
}

function readIdentity(record: string, emailSha256: Sha256): Identity {
  const found = unpackRecord(record, emailSha256);
  if (!("forms" in found)) throw new Error("the identity record is damaged");
  return found;
}

function tryReadIdentity(record: string, emailSha256: Sha256): Identity | "unreadable" {
  try {
    return readIdentity(record, emailSha256);
  } catch {
    return "unreadable";
  }
}

/** One refusal is a refusal. An unknown state counts as unreadable, never as "unknown". */
export function effectiveConsent(states: readonly ConsentReading[]): ConsentReading {
  for (const state of ["denied", "unreadable", "granted"] as const) if (states.includes(state)) return state;
  return "unknown";
}

const stateOf = ({ state }: Row): ConsentReading =>
  consentStates.includes(state as ConsentState) ? (state as ConsentState) : "unreadable";

function decisionOf(row: Row): Decision {
  return {
    subject: String(row.subject),
    givenBy: String(row.given_by),
    state: stateOf(row),
    decidedAt: Number(row.decided_at),
  };
}

function rowsOn(tx: Query, db: Database, siteId: string, newId: () => string) {
  const lock = db.forUpdate;

  /** Reads and locks a record. A missing one is inserted first, so that concurrent transactions wait for each other. */
  async function record<T extends Identity | Visitor>(table: PeopleTable, id: string, empty: T, at: number): Promise<T> {
    const key = peopleKeys[table];
    const none = { site_id: siteId, [key]: id, record: packRecord(empty, id), oldest_at: at };
    await insertRow(tx, table, none, `ON CONFLICT (site_id, ${key}) DO NOTHING`);
    const [row] = await tx.all(`SELECT record FROM ${table} WHERE site_id = $1 AND ${key} = $2 ${lock}`, [siteId, id]);
    return unpackRecord(String(row?.record), id) as T;
  }
  /** Deletes grants of persons or visitors; refusals stay. */
  async function deleteGrants(subjects: readonly string[]): Promise<void> {
    for (const table of ["consents", "consent_history"]) {
      const sql = `DELETE FROM ${table} WHERE site_id = $1 AND state <> 'denied' AND subject IN ({KEYS})`;
      await allByKeys(tx, sql, [siteId], subjects);
    }
  }

  return {
    deleteGrants,
    lockVisitor: (id: string, at: number) => record("visitors", id, newVisitor, at),
    saveVisitor: (id: string, visitor: Visitor, at: number) => saveRecord(tx, siteId, "visitors", id, visitor, at),
    removeVisitor: (id: string) => removeRecord(tx, siteId, "visitors", id),
    lockIdentity: (emailSha256: Sha256, at: number) => record("identities", emailSha256, newIdentity, at),
    saveIdentity: (emailSha256: Sha256, identity: Identity, at: number) =>
      saveRecord(tx, siteId, "identities", emailSha256, identity, at),
    removeIdentity: (emailSha256: Sha256) => removeRecord(tx, siteId, "identities", emailSha256),
    async listDecisionsAbout(subject: string): Promise<Decision[]> {
      const sql = `SELECT ${columns.consents} FROM consents WHERE site_id = $1 AND subject = $2 ORDER BY given_by ${lock}`;
      return (await tx.all(sql, [siteId, subject])).map(decisionOf);
    },

    /** Lists the persons that a visitor granted for. For a column outside of the index SQLite would read all decisions of the site. */
    async listGrantedBy(visitorId: string): Promise<Sha256[]> {
      const sql = `SELECT subject FROM consents WHERE site_id = $1 AND given_by = $2 ORDER BY subject ${lock}`;
      return (await tx.all(sql, [siteId, visitorId])).map((row) => String(row.subject) as Sha256);
    },

    /** Ends the refusal of one browser. The history keeps the decisions as they were given. */
    async liftRefusal(emailSha256: Sha256, givenBy: string): Promise<void> {
      const sql = `DELETE FROM consents WHERE site_id = $1 AND subject = $2 AND given_by = $3 AND state = 'denied'`;
      await tx.all(sql, [siteId, emailSha256, givenBy]);
    },

    /** Ends every refusal about a person, also one that cannot be read. */
    async liftRefusals(emailSha256: Sha256, at: number): Promise<void> {
      await tx.all(
        `UPDATE consents SET state = 'unknown', decided_at = $3 WHERE site_id = $1 AND subject = $2 AND state <> 'granted'`,
        [siteId, emailSha256, at],
      );
    },

    /** Deletes visitors with what they granted. Returns how many there were. */
    async eraseVisitors(ids: readonly string[]): Promise<number> {
      const sql = `DELETE FROM visitors WHERE site_id = $1 AND visitor_id IN ({KEYS}) RETURNING visitor_id`;
      const erased = await allByKeys(tx, sql, [siteId], ids);
      await deleteGrants(ids);
      return erased.length;
    },

    /** Writes a decision and its line in the history. */
    async decide(subject: string, givenBy: string, state: ConsentState, at: number): Promise<void> {
      const row = { site_id: siteId, subject, given_by: givenBy, state, decided_at: at };
      await insertRow(tx, "consents", row, orReplace("site_id, subject, given_by", "state", "decided_at"));
      await insertRow(tx, "consent_history", { ...row, id: newId() });
    },
  };
}

/**
 * Reads the rows of one subject. On PostgreSQL concurrent look-ups of one site share a query. Citus plans each query anew, which costs
 * more than what it reads, so frequent look-ups wait for each other there.
 */
function batched(
  db: Database,
  isSharded: boolean,
  textFor: (subjects: string) => string,
): (siteId: string, subject: string) => Promise<Row[]> {
  if (!db.isServer) {
    const text = textFor("$2");
    return (siteId, subject) => db.all(text, [siteId, subject]);
  }
  const texts = new Map<number, string>();
  const read = (siteId: string, subjects: readonly (string | null)[]) => {
    const text = texts.get(subjects.length) ?? textFor(list(subjects.length, 1));
    texts.set(subjects.length, text);
    return db.all(text, [siteId, ...subjects]);
  };
  return inGroups<string, Row[]>(
    async (siteId, subjects) => {
      const wanted = padded<string | null>([...new Set(subjects)], null);
      const found = await Promise.all(Array.from(wanted, (some) => read(siteId, some)));
      const rows = Map.groupBy(found.flat(), (row) => String(row.subject));
      return subjects.map((subject) => rows.get(subject) ?? []);
    },
    { ...groupsFor(db), ...(isSharded && { batchWindow: batchWhenFrequent }) },
  );
}
