// Reads the records of people and visitors: it finds those that cannot be read, or whose age would let the purge miss them.

import type { Visit } from "../../../kernel/event.ts";
import { tryRead } from "../../damagedRows.ts";
import { oldestIn, unpackRecord } from "../../people/personCodec.ts";
import type { Snapshot } from "../snapshot.ts";
import type { Faults } from "./faults.ts";

const hashPattern = /^[0-9a-f]{64}$/;

export async function checkPeople(snapshot: Snapshot, faults: Faults): Promise<void> {
  for (const [table, key] of [
    ["identities", "email_sha256"],
    ["visitors", "visitor_id"],
  ] as const) {
    for await (const rows of snapshot.stream(`SELECT ${key} AS id, record, oldest_at FROM ${table}`)) {
      for (const row of rows) {
        const id = String(row.id);
        const record = readRecord(String(row.record), id);
        if (!record) faults.add(`${table} that cannot be read`, "unreadable", id);
        else if (record.visits.length > 0 && oldestIn(record.visits, 0) !== Number(row.oldest_at))
          faults.add(`${table} whose age is not that of their oldest visit`, "missable", id);
        const persons = table === "identities" ? [id] : (record?.emailSha256s ?? []);
        if (!persons.every((hash) => hashPattern.test(hash))) faults.add(`${table} of no person`, "missable", id);
      }
    }
  }
}

function readRecord(text: string, subject: string): { visits: Visit[]; emailSha256s?: string[] } | null {
  const record = tryRead(() => unpackRecord(text, subject) as { visits: Visit[] });
  const isWhole = record?.visits.every(
    (visit) => typeof visit.seenAt === "number" && visit.clickIds && visit.browserIds && visit.utm,
  );
  return isWhole ? record : null;
}
