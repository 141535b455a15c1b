// The tables of exported data and their columns. Readers are told to expect new columns; a column never changes its meaning.

import { english } from "../kernel/messages/message.ts";
import { maskAddresses } from "../kernel/maskAddresses.ts";
import { changedAt, type ExportedAttempt, type ExportedDelivery, type ExportedEvent } from "../store/export/exportRows.ts";

type Cell = string | number | null;
/** `time` is Unix milliseconds, `amount` a decimal number with four digits after the point. */
type Kind = "text" | "integer" | "time" | "amount";

export type Column = { name: string; kind: Kind };
export type Row = readonly Cell[];
type Table<Item> = { columns: readonly Column[]; toRow: (item: Item) => Row };

/** A table of changes has the columns of what changed: its rows are later states of rows that are in an earlier file. */
export type ExportTables = {
  events: Table<ExportedEvent>;
  event_changes: Table<ExportedEvent>;
  deliveries: Table<ExportedDelivery>;
  delivery_changes: Table<ExportedDelivery>;
  attempts: Table<ExportedAttempt>;
};

/** A text of a platform may quote what it received. */
const foreignText = (text: string | null) =>
  text === null ? null : maskAddresses(english(text)).replaceAll(/\b[0-9a-f]{64}\b/gi, "(hash)");

function tableOf<Item>(columns: Record<string, readonly [Kind, (item: Item) => Cell]>): Table<Item> {
  const all = Object.entries(columns);
  return {
    columns: all.map(([name, [kind]]) => ({ name, kind })),
    toRow: (item) => all.map(([, [, read]]) => read(item)),
  };
}

const list = (values: readonly string[]) => values.join(",");

const deliveries = tableOf<ExportedDelivery>({
  site_id: ["text", ({ siteId }) => siteId],
  event_id: ["text", ({ eventId }) => eventId],
  connection_id: ["text", ({ connectionId }) => connectionId],
  platform: ["text", ({ platform }) => platform],
  state: ["text", ({ state }) => state],
  reason: ["text", ({ reason }) => foreignText(reason)],
  attempts: ["integer", ({ attempts }) => attempts],
  confirmation: ["text", ({ confirmation }) => confirmation?.state ?? null],
  confirmation_reason: ["text", ({ confirmation }) => confirmation?.reason ?? null],
  correction: ["text", ({ correction }) => correction?.state ?? null],
  corrected_value: ["amount", ({ correction }) => correction?.value ?? null],
  updated_at: ["time", changedAt],
});

const attempts = tableOf<ExportedAttempt>({
  site_id: ["text", ({ siteId }) => siteId],
  event_id: ["text", ({ eventId }) => eventId],
  connection_id: ["text", ({ connectionId }) => connectionId],
  number: ["integer", ({ number }) => number],
  started_at: ["time", ({ startedAt }) => startedAt],
  duration_ms: ["integer", ({ durationMs }) => durationMs],
  state: ["text", ({ state }) => state],
  reason: ["text", ({ reason }) => foreignText(reason)],
  http_status: ["integer", ({ httpStatus }) => httpStatus],
  batch: ["integer", ({ batch }) => batch],
});

const eventsWith = (withPeople: boolean) =>
  tableOf<ExportedEvent>({
    site_id: ["text", ({ siteId }) => siteId],
    event_id: ["text", ({ id }) => id],
    platform_event_id: ["text", ({ platformEventId }) => platformEventId],
    event: ["text", ({ event }) => event],
    mode: ["text", ({ mode }) => mode],
    status: ["text", ({ status }) => status],
    filter_reasons: ["text", ({ filterReasons }) => list(filterReasons.map(({ code }) => code))],
    value: ["amount", ({ value }) => value],
    currency: ["text", ({ currency }) => currency],
    order_id: ["text", ({ orderId }) => orderId],
    event_time: ["time", ({ time }) => time],
    received_at: ["time", ({ receivedAt }) => receivedAt],
    released_at: ["time", ({ releasedAt }) => releasedAt],
    inbound_key_id: ["text", ({ keyId }) => keyId],
    identity: ["text", ({ identity }) => identity],
    withheld: ["text", ({ withheld }) => foreignText(withheld)],
    click_ids: ["text", ({ clickIds }) => list(clickIds)],
    utm_source: ["text", ({ utm }) => utm["utm_source"] ?? null],
    utm_medium: ["text", ({ utm }) => utm["utm_medium"] ?? null],
    utm_campaign: ["text", ({ utm }) => utm["utm_campaign"] ?? null],
    ...(withPeople && { email_sha256: ["text", ({ emailSha256 }: ExportedEvent) => emailSha256] as const }),
  });

/** The email's hash is a column only where the operator asks for it. */
export function exportTables(withPeople: boolean): ExportTables {
  const events = eventsWith(withPeople);
  return { events, event_changes: events, deliveries, delivery_changes: deliveries, attempts };
}
