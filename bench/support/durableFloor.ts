// The least that a durable relay stores of an event: its claim, its row, and the outcomes of its calls. All that come within a few
// milliseconds share one commit, which is on the disk before the calls and before the answer. There are no keys, consent, identity
// records, retries or batches of calls, and no second engine: what the relay costs more than this is what all of that costs.

import { hash, randomBytes } from "node:crypto";
import { DatabaseSync } from "node:sqlite";

export type FloorEvent = { event: string; orderId: string; email: string; phone: string; firstName: string; lastName: string } & {
  value: number;
  currency: string;
};
type Stored = { id: Buffer; isDuplicate: boolean; outgoing: string };
type Waiting = { id: Buffer; claim: Buffer; row: string; resolve: (isDuplicate: boolean) => void };

/** How long an event waits for others at most. */
const gatherMs = 2;

export function openFloor(file: string) {
  const db = new DatabaseSync(file);
  db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
    CREATE TABLE claims (claim BLOB PRIMARY KEY, id BLOB) WITHOUT ROWID;
    CREATE TABLE events (id BLOB PRIMARY KEY, row TEXT) WITHOUT ROWID;
    CREATE TABLE outcomes (id BLOB PRIMARY KEY, results TEXT) WITHOUT ROWID`);
  const addClaim = db.prepare("INSERT INTO claims VALUES (?, ?) ON CONFLICT DO NOTHING");
  const addEvent = db.prepare("INSERT INTO events VALUES (?, ?)");
  const addOutcome = db.prepare("INSERT INTO outcomes VALUES (?, ?)");
  let accepted: Waiting[] = [];
  let settled: { id: Buffer; results: string }[] = [];
  let timer: NodeJS.Timeout | null = null;

  function commit(): void {
    timer = null;
    const [events, outcomes] = [accepted, settled];
    [accepted, settled] = [[], []];
    const duplicates: boolean[] = [];
    db.exec("BEGIN IMMEDIATE");
    for (const { id, claim, row } of events) {
      const isDuplicate = addClaim.run(claim, id).changes === 0;
      if (!isDuplicate) addEvent.run(id, row);
      duplicates.push(isDuplicate);
    }
    for (const { id, results } of outcomes) addOutcome.run(id, results);
    db.exec("COMMIT");
    events.forEach(({ resolve }, i) => resolve(duplicates[i] === true));
  }
  const commitSoon = () => void (timer ??= setTimeout(commit, gatherMs));

  return {
    /** Hashes the contact data, stores the event, and returns what platforms are to receive. */
    async accept({ event, orderId, value, currency, email, phone, firstName, lastName }: FloorEvent): Promise<Stored> {
      const [em, ph, fn, ln] = [email, phone, firstName, lastName].map((text) => hash("sha256", text ?? ""));
      const id = randomBytes(16);
      const person = { em, ph, fn, ln };
      const row = JSON.stringify({ event, value, currency, orderId, person, at: Date.now() });
      const claim = hash("sha256", `${event}\n${orderId}`, "buffer");
      const isDuplicate = await new Promise<boolean>((resolve) => {
        accepted.push({ id, claim, row, resolve });
        commitSoon();
      });
      const sent = {
        event_name: event,
        event_id: id.toString("hex"),
        user_data: person,
        custom_data: { value, currency, order_id: orderId },
      };
      return { id, isDuplicate, outgoing: JSON.stringify({ data: [sent] }) };
    },

    /** The answer does not wait for it. */
    settle(id: Buffer, results: unknown): void {
      settled.push({ id, results: JSON.stringify(results) });
      commitSoon();
    },
  };
}
