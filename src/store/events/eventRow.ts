// Describes the row of an event once, for accepting, lists and traces.

import type { Attribution, Event, FilterReason, Mode, Person, Sha256 } from "../../kernel/event.ts";
import { orderEventId } from "../../kernel/ids.ts";
import { orderKey } from "../../kernel/reconciliation.ts";
import { readList, tryRead } from "../damagedRows.ts";
import { describeRow, readJson, readNumber, readText } from "../describeRow.ts";
import { allByKeys, rowStatement, type Query, type Row, type Value } from "../engine/database.ts";
import type { Seal } from "../engine/seal.ts";
import { packAttribution, unpackAttribution } from "../people/personCodec.ts";
import { noPayload, packPayload, unpackPayload } from "./payload.ts";
import type { NewDelivery } from "../deliveries/delivery.ts";
import type { StoredOwnership } from "../deliveries/ownership.ts";
import { deliverySourceOf } from "../deliveries/plan.ts";

export const eventStatuses = ["accepted", "filtered"] as const;
export type EventStatus = (typeof eventStatuses)[number];

export type StoredEvent = Event & {
  platformEventId: string;
  status: EventStatus;
  filterReasons: FilterReason[];
  attribution: Attribution;
  /** The person was erased: nothing of the event may be sent any more. */
  isErased: boolean;
  /** When an operator released this filtered event. */
  releasedAt: number | null;
};

type Inserted = {
  event: Event;
  attribution: Attribution;
  filterReasons: readonly FilterReason[];
  deliveries: readonly NewDelivery[];
  ownership: StoredOwnership;
};

export const extraPlace = (siteId: string, id: string) => `event ${siteId} ${id}`;

/** The part of an email hash that indexes hold: few people share it, and the row has the whole hash. */
export const emailRef = (emailSha256: Sha256) => Number.parseInt(emailSha256.slice(0, 13), 16);

/** In place of the hash and its part, where the sender gave no email. An erased person has neither. */
const noEmail = "-";
const noEmailRef = -1;

const personFields = [
  "emailSha256",
  "emailGoogleSha256",
  "emailMicrosoftSha256",
  "emailRedditSha256",
  "phoneSha256",
  "phoneDigitsSha256",
  "firstNameSha256",
  "lastNameSha256",
  "emailAmazonSha256",
  "firstNameAmazonSha256",
  "lastNameAmazonSha256",
] as const satisfies readonly (keyof Person)[];

/** Returns what the index of persons holds. */
export const refOf = ({ emailSha256 }: Person) => (emailSha256 === undefined ? noEmailRef : emailRef(emailSha256));

/** Stores each hash once: the forms of an email are mostly equal. */
export function packPerson(person: Person): string {
  let text: string = person.emailSha256 ?? noEmail;
  let end = text;
  for (let at = 1; at < personFields.length; at++) {
    const hash = person[personFields[at] as keyof Person];
    text += hash === undefined ? " " : hash === person.emailSha256 ? " =" : ` ${hash}`;
    if (hash !== undefined) end = text;
  }
  return end;
}

export function readPerson(text: string): Person {
  const [first, ...others] = text.split(" ") as [Sha256, ...Sha256[]];
  const person: Person = text === "" || (first as string) === noEmail ? {} : { emailSha256: first };
  others.forEach((hash, i) => {
    const field = personFields[i + 1];
    if (field && hash) person[field] = (hash as string) === "=" ? first : hash;
  });
  return person;
}

/** Extra fields and items are sealed, bound to their event. */
export function describeEvents(seal: Seal) {
  /** Two fields are read from one sealed text, which is opened once. */
  const opened = new WeakMap<Row, ReturnType<typeof unpackPayload>>();
  function unsealPayload(value: Value, row: Row) {
    if (value === null) return noPayload;
    const known = opened.get(row);
    if (known) return known;
    const place = extraPlace(String(row.site_id), String(row.id));
    const payload = unpackPayload(seal.unseal(String(value), place));
    opened.set(row, payload);
    return payload;
  }

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
            ? (readText(row.order_event_id ?? null) ?? orderEventId(String(row.site_id), String(row.name), String(row.order_id)))
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
      orderEventId: { column: "order_event_id", write: ({ event }) => event.orderEventId, read: readText },
      time: { column: "time", write: ({ event }) => event.time, read: Number },
      receivedAt: { column: "received_at", write: ({ event }) => event.receivedAt, read: Number },
      releasedAt: { column: "released_at", read: readNumber },
      person: {
        column: "person",
        write: ({ event }) => packPerson(event.person),
        read: (value) => readPerson(String(value)),
      },
      isErased: { column: "person", read: (value) => value === "" },
      attribution: {
        column: "attribution",
        write: ({ attribution }) => packAttribution(attribution),
        read: (value) => unpackAttribution(String(value)),
      },
      extra: {
        column: "extra",
        write: ({ event }) => {
          const text = packPayload(event);
          return text && seal.seal(text, extraPlace(event.siteId, event.id));
        },
        read: (value, row) => unsealPayload(value, row).extra,
      },
      // Written with the extra fields.
      items: { column: "extra", read: (value, row) => unsealPayload(value, row).items },
      leadId: { column: "extra", read: (value, row) => unsealPayload(value, row).leadId },
      lookAlikes: { column: "extra", read: (value, row) => unsealPayload(value, row).lookAlikes },
    },
    {
      // Indexed, as the next one.
      order_key: ({ event }) => event.orderId && orderKey(event.orderId),
      // Indexed, and emptied when the person is erased.
      email_ref: ({ event }) => refOf(event.person),
      ...deliverySourceOf,
    },
  );
}

/** Column names and summaries do not depend on the encryption key. */
const unsealed = describeEvents({ unseal: (text) => text, seal: (text) => text });

export const eventColumns = unsealed.list;

export const insertEvents = rowStatement({
  text: `INSERT INTO events (${unsealed.inserted.join(",")}) VALUES {ROWS} ON CONFLICT DO NOTHING`,
  columns: unsealed.inserted.length,
  key: { site_id: unsealed.inserted.indexOf("site_id"), id: unsealed.inserted.indexOf("id") },
});

/** Locks events before their rows change: of a replay, an erasure and a purge, the later one sees what the earlier one did. */
export const lockEvents = (
  tx: Query,
  forUpdate: string,
  siteId: string,
  ids: readonly string[],
  columns = "id",
): Promise<Row[]> => {
  const sql = `SELECT ${columns} FROM events WHERE site_id = $1 AND id IN ({KEYS}) ORDER BY id ${forUpdate}`;
  // Sorted, so that two transactions that lock many of the same events do not deadlock.
  return allByKeys(tx, sql, [siteId], ids.toSorted());
};

const plainFields = [
  "siteId",
  "id",
  "platformEventId",
  "mode",
  "status",
  "name",
  "value",
  "currency",
  "orderId",
  "orderEventId",
  "receivedAt",
  "releasedAt",
] as const;
const summaryFields = [...plainFields, "filterReasons"] as const;

export const summaryColumns = unsealed.columnsOf([...summaryFields, "attribution"]).join(", ");

export type EventSummary = ReturnType<typeof toSummary>;

/** The part of an event that lists show: neither the person nor anything that is sealed. */
export function toSummary(event: Pick<StoredEvent, (typeof summaryFields)[number]>, attribution: Partial<Attribution>) {
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

/** One event whose reasons or attribution are damaged must not hide the others of its page. */
export const readSummary = (row: Row): EventSummary => summaryWith(row, readAttribution(row));

const summaryWith = (row: Row, attribution: Partial<Attribution>) =>
  toSummary({ ...unsealed.readSome(row, plainFields), filterReasons: readReasons(row) }, attribution);

export type CountedEvent = EventSummary & {
  /** The names of the platforms' own cookies. */
  cookies: string[];
  utm: Readonly<Record<string, string>>;
  /** The name of the click id that was seen last. */
  newestClickId: string | null;
  path?: Attribution["path"];
};

/** Reads what statistics count of an event. */
export function readCounted(row: Row): CountedEvent {
  const attribution = readAttribution(row);
  const { utm = {}, clickIds = {}, browserIds = {}, path } = attribution;
  const newest = Object.entries(clickIds).toSorted(([, one], [, other]) => other.seenAt - one.seenAt)[0];
  return {
    ...summaryWith(row, attribution),
    cookies: Object.keys(browserIds),
    utm,
    newestClickId: newest?.[0] ?? null,
    ...(path && { path }),
  };
}

const readReasons = ({ reasons }: Row) => readList(String(reasons)) as FilterReason[];

const readAttribution = (row: Row): Partial<Attribution> => tryRead(() => unpackAttribution(String(row.attribution))) ?? {};
