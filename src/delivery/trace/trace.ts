// Reads the trace of one event for the dashboard and the command line: the event, its attribution and its deliveries.

import { describeLookAlike, type Conversion } from "../../kernel/event.ts";
import { say } from "../../kernel/messages/message.ts";
import { Refusal } from "../../kernel/refusal.ts";
import { platformOf } from "../../platforms/index.ts";
import { amountText } from "../../platforms/shared/values.ts";
import { ruledValue } from "../../platforms/valueRules.ts";
import type { Connection, Directory } from "../../sites/directory.ts";
import type { Attempt } from "../../store/deliveries/delivery.ts";
import { toConfirmation } from "../confirmations/describe.ts";
import { toCorrection } from "../corrections/describe.ts";
import { rebuildRequest } from "../platformCall.ts";
import { toConversion } from "../conversion.ts";
import { settingsFingerprint } from "../settingsFingerprint.ts";
import { toSummary, type StoredEvent } from "../../store/events/eventRow.ts";
import type { Store } from "../../store/store.ts";
import { nextTryAt, type StoredAttempt } from "../../store/deliveries/readDeliveries.ts";

type Context = {
  store: Pick<Store, "events" | "deliveries" | "confirmations" | "corrections">;
  directory: Directory;
  /** The version of the relay. */
  version: string;
};

/** Finds an event by its id or by its platform event id. */
export async function findEventById(store: Pick<Store, "events">, siteId: string, id: string): Promise<StoredEvent | null> {
  const direct = await store.events.get(siteId, id);
  const claimed = direct ? null : await store.events.findIdByClaim(siteId, id);
  const found = claimed ? await store.events.get(siteId, claimed) : direct;
  if (found === "damaged") throw damagedEvent(claimed ?? id);
  return found;
}

/** Refuses to show or send an event whose row is damaged. */
export const damagedEvent = (id: string) => new Refusal("event", say("event_unreadable", { id }));

export async function readTrace(context: Context, event: StoredEvent) {
  const { store, directory } = context;
  const { siteId, orderId } = event;
  const deliveries = await store.deliveries.listByEvent(siteId, event.id);
  const attempts = await listAttempts(context, event);
  const confirmations = await store.confirmations.listByEvents(siteId, [event.id]);
  const corrections = await store.corrections.listByEvent(siteId, event.id);
  const emails = orderId === null ? 1 : await store.events.countEmailsOfOrder(siteId, orderId);
  const { keys = [], sources = [] } = directory.site(siteId) ?? {};
  const key = [...keys, ...sources].find((one) => one.id === event.keyId);
  return {
    ...toSummary(event, event.attribution),
    site: siteId,
    time: event.time,
    key: { id: event.keyId, name: key?.name ?? null },
    emailSha256: event.person.emailSha256 ?? "",
    contact: Object.keys(event.person),
    leadId: event.leadId ?? null,
    items: (event.items ?? []).map((item) => ({
      id: item.id,
      name: item.name ?? null,
      category: item.category ?? null,
      brand: item.brand ?? null,
      price: item.price ?? null,
      quantity: item.quantity,
    })),
    attribution: event.attribution,
    warnings: [
      ...(emails > 1 ? [`order id ${orderId} was sent with ${emails} different emails: is it a placeholder?`] : []),
      ...(event.lookAlikes ?? []).map(describeLookAlike),
    ],
    deliveries: deliveries.map((delivery) => {
      const { connectionId, platform, state, reason, attempts: made, updatedAt } = delivery;
      const confirmation = confirmations.find((one) => one.connectionId === connectionId);
      const correction = corrections.find((one) => one.connectionId === connectionId);
      const log = attempts.filter((one) => one.connectionId === connectionId);
      return {
        connectionId,
        platform,
        state,
        reason,
        attempts: made,
        nextTryAt: nextTryAt(delivery),
        updatedAt,
        confirmation: toConfirmation({ platform, state, mode: event.mode }, confirmation),
        correction: correction ? toCorrection(correction) : null,
        sentAs: sentAs(context, event, connectionId, log.at(-1)),
        log: log.map(({ settings: _mark, ...one }) => one),
      };
    }),
  };
}

/** Lists the attempts of an event. Requests that are not stored are made again from the event. */
async function listAttempts(
  { store, directory, version }: Context,
  event: StoredEvent,
): Promise<(Attempt & Pick<StoredAttempt, "connectionId" | "settings">)[]> {
  const { siteId, id, attribution, platformEventId } = event;
  const conversion = toConversion(event, platformEventId, attribution);
  const attempts = await store.deliveries.listAttempts(siteId, id);
  return attempts.map(({ request, ...stored }) => {
    const { settings } = stored;
    const attempt = { ...stored, reason: stored.reason ?? warningOf(directory.connection(siteId, stored.connectionId), stored) };
    if (request !== null) return { ...attempt, request };
    if (!event.person.emailSha256) return { ...attempt, request: "(erased)" };
    const connection = directory.connection(siteId, attempt.connectionId);
    return { ...attempt, request: requestText(connection, version, conversion, attempt.startedAt, settings) };
  });
}

/** Says which value a rule of the connection makes of the event's own; null where it is sent as it is. */
function sentAs(
  { directory, version }: Context,
  event: StoredEvent,
  connectionId: string,
  last: Pick<StoredAttempt, "settings"> | undefined,
): string | null {
  const connection = directory.connection(event.siteId, connectionId);
  const conversion = toConversion(event, event.platformEventId, event.attribution);
  const ruled = connection && last ? ruledValue(conversion, connection.settings) : null;
  if (!connection || !last || !ruled) return null;
  const { value, currency } = event;
  const parameters = {
    value: `${amountText(ruled.value, ruled.currency)} ${ruled.currency}`,
    rule: ruled.rule,
    original: value === null ? "–" : `${amountText(value, currency)} ${currency}`,
  };
  // An attempt that was stored with its request has no mark: the request says which value it had.
  return say(settingsFingerprint(connection, version) === last.settings ? "sent_as" : "sent_as_today", parameters);
}

/** Returns what the platform warned of when it accepted the conversion. */
function warningOf(connection: Connection | undefined, { state, response }: Pick<Attempt, "state" | "response">): string | null {
  if (state !== "sent" || !connection || !response) return null;
  return platformOf(connection.platform)?.warnings?.(response) ?? null;
}

function requestText(
  connection: Connection | undefined,
  version: string,
  conversion: Conversion,
  startedAt: number,
  mark: string,
): string {
  const platform = connection && platformOf(connection.platform);
  if (!platform) return "(not stored, and its connection was removed)";
  const request = rebuildRequest({ platform, settings: connection.settings }, conversion, startedAt);
  if (settingsFingerprint(connection, version) === mark) return request;
  return `(The settings of the connection, or the version of the relay, have changed since. Today the request is:)\n${request}`;
}

export type Trace = Awaited<ReturnType<typeof readTrace>>;
