// What a person types into a search box: an email, its hash, an event's id, or an order id.

import { findEventById } from "../../delivery/trace.ts";
import { readEmailSha256 } from "../../identity/person.ts";
import type { Sha256 } from "../../kernel/event.ts";
import { Refusal } from "../../kernel/refusal.ts";
import type { Store } from "../../store/store.ts";

export type Sought = { emailSha256: Sha256 } | { eventId: string } | { orderId: string };

const uuidForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** An email never travels further than this: it is hashed here. */
export async function sought(
  store: Pick<Store, "events">,
  siteId: string,
  text: string | undefined,
): Promise<Sought | null> {
  if (!text) return null;
  const emailSha256 = readEmailSha256(text);
  if (emailSha256) return { emailSha256 };
  if (uuidForm.test(text)) {
    const event = await findEventById(store, siteId, text.toLowerCase());
    if (event) return { eventId: event.id };
  }
  // Some shops' order ids are UUIDs.
  return { orderId: text };
}

/** The hash of the person that a member names. */
export function personHash(text: string): Sha256 {
  const emailSha256 = readEmailSha256(text);
  if (!emailSha256) throw new Refusal("email", "Write an email address, or its hash (64 hex characters).");
  return emailSha256;
}

export function checkTimes(from: number | undefined, to: number | undefined): void {
  if (from !== undefined && to !== undefined && from >= to)
    throw new Refusal("from", "The beginning must lie before the end.");
}

const cursorForm = /^([0-9a-f-]{36})(?:\/([0-9a-z]{1,40})?)?$/;

/** EVENT, or EVENT/CONNECTION in the sync log. */
export function readCursor(text: string | undefined): { id: string; connectionId: string } | null {
  if (text === undefined) return null;
  const [, id, connectionId = ""] = cursorForm.exec(text) ?? [];
  if (id === undefined) throw new Refusal("cursor", "A cursor is the `next` of the page before.");
  return { id, connectionId };
}
