// Describes the row of an event once, for accepting, lists and traces.

import type { Attribution, Event, FilterReason, Mode, Person, Sha256 } from "../../kernel/event.ts";
import { orderEventId } from "../../kernel/ids.ts";
import { describeRow, readJson, readNumber, readText } from "../describeRow.ts";
import { rowStatement, type Row } from "../engine/database.ts";
import type { Seal } from "../engine/seal.ts";
import { packAttribution, unpackAttribution } from "../people/personCodec.ts";
import { packPlan, readPlan, type PlanEntry } from "./plan.ts";

export const eventStatuses = ["accepted", "filtered"] as const;
export type EventStatus = (typeof eventStatuses)[number];

export type StoredEvent = Event & {
  platformEventId: string;
  status: EventStatus;
  filterReasons: FilterReason[];
  attribution: Attribution;
  plan: PlanEntry[];
  /** The node that attempts the event first; "" where all deliveries have rows. */
  owner: string;
  /** When an operator released this filtered event. */
  releasedAt: number | null;
};

type Inserted = {
  event: Event;
  attribution: Attribution;
  filterReasons: readonly FilterReason[];
  plan: readonly PlanEntry[];
  owner: string;
  leaseUntil: number | null;
};

export const extraPlace = (siteId: string, id: string) => `event ${siteId} ${id}`;

/** The part of an email hash that indexes hold: few people share it, and the row has the whole hash. */
export const emailRef = (emailSha256: Sha256) => Number.parseInt(emailSha256.slice(0, 13), 16);

const personFields = [
  "emailSha256", "emailGoogleSha256", "emailMicrosoftSha256", "emailRedditSha256", "phoneSha256", "phoneDigitsSha256",
  "firstNameSha256", "lastNameSha256",
] as const satisfies readonly (keyof Person)[]; // prettier-ignore

/** Stores each hash once: the forms of an email are mostly equal. */
export function packPerson(person: Person): string {
  let text = person.emailSha256 as string;
  let end = text;
  for (let at = 1; at < personFields.length; at++) {
    const hash = person[personFields[at] as keyof Person];
    text += hash === undefined ? " " : hash === person.emailSha256 ? " =" : ` ${hash}`;
    if (hash !== undefined) end = text;
  }
  return end;
}

export function readPerson(text: string): Person {
  const [emailSha256 = "", ...others] = text.split(" ") as Sha256[];
  const person: Person = { emailSha256: emailSha256 as Sha256 };
  others.forEach((hash, i) => {
    const field = personFields[i + 1];
    if (field && hash) person[field] = (hash as string) === "=" ? person.emailSha256 : hash;
  });
  return person;
}

/** Extra fields are sealed, bound to their event. */
export function describeEvents(seal: Pick<Seal, "open" | "close">) {
  return describeRow<StoredEvent, Inserted, boolean>(
    {
      siteId: { column: "site_id", write: ({ event }) => event.siteId, read: String },
      id: { column: "id", write: ({ event }) => event.id, read: String },
      // Computed from columns that every reader of events selects.
      platformEventId: {
        column: "uses_order_event_id",
        write: (_item, usesOrderEventId) => (usesOrderEventId ? 1 : 0),
        read: (value, row) =>
          Number(value) === 1
            ? orderEventId(String(row.site_id), String(row.name), String(row.order_id))
            : String(row.id),
      },
      keyId: { column: "key_id", write: ({ event }) => event.keyId, read: String },
      mode: { column: "mode", write: ({ event }) => event.mode, read: (value) => value as Mode },
      status: {
        column: "status",
        write: ({ filterReasons }): EventStatus => (filterReasons.length ? "filtered" : "accepted"),
        read: (value) => value as EventStatus,
      },
      filterReasons: {
        column: "reasons",
        write: ({ filterReasons }) => (filterReasons.length ? JSON.stringify(filterReasons) : null),
        read: (value) => (value === null ? [] : readJson(value)),
      },
      name: { column: "name", write: ({ event }) => event.name, read: String },
      value: { column: "value", write: ({ event }) => event.value, read: (value) => value as number | null },
      currency: { column: "currency", write: ({ event }) => event.currency, read: String },
      orderId: { column: "order_id", write: ({ event }) => event.orderId, read: readText },
      time: { column: "time", write: ({ event }) => event.time, read: Number },
      receivedAt: { column: "received_at", write: ({ event }) => event.receivedAt, read: Number },
      releasedAt: { column: "released_at", read: readNumber },
      person: {
        column: "person",
        write: ({ event }) => packPerson(event.person),
        read: (value) => readPerson(String(value)),
      },
      attribution: {
        column: "attribution",
        write: ({ attribution }) => packAttribution(attribution),
        read: (value) => unpackAttribution(String(value)),
      },
      plan: {
        column: "plan",
        write: ({ plan }) => packPlan(plan),
        read: (value) => readPlan(String(value)),
      },
      owner: {
        column: "owner",
        write: ({ owner, leaseUntil }) => (leaseUntil === null ? owner : ""),
        read: String,
      },
      extra: {
        column: "extra",
        write: ({ event: { siteId, id, extra } }) =>
          extra && seal.close(JSON.stringify(extra), extraPlace(siteId, id)),
        read: (value, row) =>
          value === null
            ? null
            : JSON.parse(seal.open(String(value), extraPlace(String(row.site_id), String(row.id)))),
      },
    },
    // Indexed, and emptied when the person is erased.
    { email_ref: ({ event }) => emailRef(event.person.emailSha256) },
  );
}

/** Column names and summaries do not depend on the encryption key. */
const unsealed = describeEvents({ open: (text) => text, close: (text) => text });

export const eventColumns = unsealed.columns.join(", ");

export const insertEvents = rowStatement({
  text: `INSERT INTO events (${unsealed.inserted.join(",")}) VALUES {ROWS} ON CONFLICT DO NOTHING`,
  columns: unsealed.inserted.length,
  key: { site_id: unsealed.inserted.indexOf("site_id"), id: unsealed.inserted.indexOf("id") },
});

const summaryFields = [
  "siteId", "id", "platformEventId", "mode", "status", "filterReasons", "name", "value", "currency", "orderId", "receivedAt",
  "releasedAt",
] as const; // prettier-ignore

export const summaryColumns = unsealed.columnsOf([...summaryFields, "attribution"]).join(", ");

export type EventSummary = ReturnType<typeof toSummary>;

/** The part of an event that lists show: neither the person nor anything that is sealed. */
export function toSummary(
  event: Pick<StoredEvent, (typeof summaryFields)[number]>,
  attribution: Partial<Attribution>,
) {
  return {
    id: event.id,
    platformEventId: event.platformEventId,
    mode: event.mode,
    status: event.status,
    event: event.name,
    value: event.value,
    currency: event.currency,
    orderId: event.orderId,
    receivedAt: event.receivedAt,
    filterReasons: event.filterReasons,
    releasedAt: event.releasedAt,
    identity: attribution.identity ?? ("unreadable" as const),
    withheld: attribution.withheld ?? null,
    /** Their names. */
    clickIds: Object.keys(attribution.clickIds ?? {}),
  };
}

export const readSummary = (row: Row): EventSummary =>
  toSummary(unsealed.readSome(row, summaryFields), readAttribution(row));

/** One event whose attribution is damaged must not hide the others of its page. */
function readAttribution(row: Row): Partial<Attribution> {
  try {
    return unpackAttribution(String(row.attribution));
  } catch {
    return {};
  }
}
