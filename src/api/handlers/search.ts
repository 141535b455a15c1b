// Reads search texts: an email, its hash, an event id or an order id.

import { findEventById } from "../../delivery/trace/trace.ts";
import { readEmailSha256 } from "../../identity/person.ts";
import type { Sha256 } from "../../kernel/event.ts";
import { maskAddresses } from "../../kernel/maskAddresses.ts";
import { say } from "../../kernel/messages/message.ts";
import { Refusal } from "../../kernel/refusal.ts";
import type { Store } from "../../store/store.ts";

type Search = { emailSha256: Sha256 } | { eventId: string } | { orderId: string };

/** The form of an event id, and of an order event id. */
const idForm = /^(?:[0-9a-z]{26}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$/i;

/** Hashes an email first: no other function sees the plain address. */
export async function readSearch(store: Pick<Store, "events">, siteId: string, text: string | undefined): Promise<Search | null> {
  if (!text) return null;
  const emailSha256 = readEmailSha256(text);
  if (emailSha256) return { emailSha256 };
  if (idForm.test(text)) {
    const event = await findEventById(store, siteId, text.toLowerCase());
    if (event) return { eventId: event.id };
  }
  // Order ids can have this form, too.
  return { orderId: maskAddresses(text) };
}

/** Reads an email or its hash. */
export function readPersonHash(text: string): Sha256 {
  const emailSha256 = readEmailSha256(text);
  if (!emailSha256) throw new Refusal("email", say("email_or_hash_needed"));
  return emailSha256;
}
