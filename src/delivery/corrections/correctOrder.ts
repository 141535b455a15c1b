// Corrects the conversions of an order that the customer's own system shows as refunded or cancelled.

import { maskAddresses } from "../../kernel/maskAddresses.ts";
import { say } from "../../kernel/messages/message.ts";
import { Conflict, Missing, type By } from "../../kernel/refusal.ts";
import type { Site } from "../../sites/directory.ts";
import type { NewCorrection } from "../../store/corrections/corrections.ts";
import type { Store } from "../../store/store.ts";
import { findOrderCorrections } from "./find.ts";

/** `value` is what is left of the order's value. Returns the corrections, also those that a platform cannot make. */
export async function correctOrder(
  { store }: { store: Pick<Store, "deliveries" | "events" | "corrections" | "audit"> },
  site: Site,
  { orderId, value }: { orderId: string; value: number },
  { actor, now }: By,
): Promise<NewCorrection[]> {
  requireCorrections(site);
  const found = await findOrderCorrections({ store, site }, { orderId: maskAddresses(orderId), value }, now);
  if (found.length === 0) throw new Missing("orderId", say("order_not_sent"));
  await store.corrections.add(site.id, found);
  const detail = { conversions: new Set(found.map(({ eventId }) => eventId)).size, value };
  await store.audit.add({ siteId: site.id, actor, action: "order corrected", detail, at: now });
  return found;
}

/** Nothing is corrected without the site's switch. */
export function requireCorrections({ id, settings }: Site): void {
  if (settings.corrections) return;
  throw new Conflict(
    "corrections",
    say("corrections_off"),
    `Corrections are off. Turn them on first: cleancast site set ${id} corrections=on`,
  );
}
