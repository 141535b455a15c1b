// What a person types into a search box: an email, its hash, an event's id, or an order id.

import { eventBy } from "../../delivery/trace.ts";
import { looksLikeEmail } from "../../identity/email.ts";
import { hashEmail } from "../../identity/person.ts";
import { Refusal } from "../../sites/manage.ts";
import type { Store } from "../../store/store.ts";

export type Sought = { emailHash: string } | { eventId: string } | { orderId: string };

const hashForm = /^[0-9a-f]{64}$/i;
const uuidForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** An email never travels further than this: it is hashed here. */
export async function sought(
  store: Pick<Store, "events">,
  siteId: string,
  text: string | undefined,
): Promise<Sought | null> {
  if (!text) return null;
  if (hashForm.test(text)) return { emailHash: text.toLowerCase() };
  if (looksLikeEmail(text)) return { emailHash: hashEmail(text) };
  if (uuidForm.test(text)) {
    const event = await eventBy(store, siteId, text.toLowerCase());
    if (event) return { eventId: event.id };
  }
  // Some shops' order ids are UUIDs.
  return { orderId: text };
}

/** The hash of the person that somebody names. */
export function personHash(text: string): string {
  if (hashForm.test(text)) return text.toLowerCase();
  if (!looksLikeEmail(text))
    throw new Refusal("email", "Write an email address, or its hash (64 hex characters).");
  return hashEmail(text);
}

export function checkTimes(from: number | undefined, to: number | undefined): void {
  if (from !== undefined && to !== undefined && from >= to)
    throw new Refusal("from", "The beginning must lie before the end.");
}

const cursorForm = /^([0-9a-f-]{36})(?:\/([0-9a-z]{1,40})?)?$/;

/** EVENT, or EVENT/CONNECTION in the sync log. */
export function readCursor(text: string | undefined): { eventId: string; connectionId: string } | null {
  if (text === undefined) return null;
  const [, eventId, connectionId = ""] = cursorForm.exec(text) ?? [];
  if (eventId === undefined) throw new Refusal("cursor", "A cursor is the `next` of the page before.");
  return { eventId, connectionId };
}
