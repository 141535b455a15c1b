// The tables of exported data and their columns. Readers are told to expect new columns; a column never changes its meaning.

import { english } from "../kernel/messages/message.ts";
import { maskAddresses } from "../kernel/maskAddresses.ts";
import type { ExportRows } from "../store/events/exportRows.ts";

type Exported = ExportRows[number];
type Cell = string | number | null;
/** `time` is Unix milliseconds, `amount` a decimal number with four digits after the point. */
type Kind = "text" | "integer" | "time" | "amount";

export type Column = { name: string; kind: Kind };
export type Row = readonly Cell[];
export type Table = { name: "events" | "deliveries" | "attempts"; columns: readonly Column[]; rowsOf(event: Exported): Row[] };

/** A text of a platform may quote what it received. */
const foreignText = (text: string | null) =>
  text === null ? null : maskAddresses(english(text)).replaceAll(/\b[0-9a-f]{64}\b/gi, "(hash)");

function tableOf<Item>(
  name: Table["name"],
  itemsOf: (event: Exported) => readonly Item[],
  columns: Record<string, readonly [Kind, (item: Item, event: Exported) => Cell]>,
): Table {
  const all = Object.entries(columns);
  return {
    name,
    columns: all.map(([column, [kind]]) => ({ name: column, kind })),
    rowsOf: (event) => itemsOf(event).map((item) => all.map(([, [, read]]) => read(item, event))),
  };
}

const list = (values: readonly string[]) => values.join(",");

/** The email's hash is a column only where the operator asks for it. */
export const exportTables = (withPeople: boolean): readonly Table[] => [
  tableOf("events", (event) => [event], {
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
    utm_source: ["text", ({ utm }) => utm["source"] ?? null],
    utm_medium: ["text", ({ utm }) => utm["medium"] ?? null],
    utm_campaign: ["text", ({ utm }) => utm["campaign"] ?? null],
    ...(withPeople && { email_sha256: ["text", ({ emailSha256 }: Exported) => emailSha256] as const }),
  }),
  tableOf("deliveries", ({ deliveries }) => deliveries, {
    site_id: ["text", ({ siteId }) => siteId],
    event_id: ["text", ({ eventId }) => eventId],
    connection_id: ["text", ({ connectionId }) => connectionId],
    platform: ["text", ({ platform }) => platform],
    state: ["text", ({ state }) => state],
    reason: ["text", ({ reason }) => foreignText(reason)],
    attempts: ["integer", ({ attempts }) => attempts],
    updated_at: ["time", ({ updatedAt }) => updatedAt],
  }),
  tableOf("attempts", ({ attempts }) => attempts, {
    site_id: ["text", (_attempt, { siteId }) => siteId],
    event_id: ["text", (_attempt, { id }) => id],
    connection_id: ["text", ({ connectionId }) => connectionId],
    number: ["integer", ({ number }) => number],
    started_at: ["time", ({ startedAt }) => startedAt],
    duration_ms: ["integer", ({ durationMs }) => durationMs],
    state: ["text", ({ state }) => state],
    reason: ["text", ({ reason }) => foreignText(reason)],
    http_status: ["integer", ({ httpStatus }) => httpStatus],
    batch: ["integer", ({ batch }) => batch],
  }),
];
