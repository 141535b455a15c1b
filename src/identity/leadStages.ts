// A lead moves through stages: every stage is an event with the lead's id. The first event of a stage claims it. One that the lead
// reaches again, because a CRM set it back, is shown and not sent again.

import type { Event } from "../kernel/event.ts";
import { foldName, usualEventOf } from "../platforms/shared/eventNames.ts";
import { stageClaim } from "../store/events/claims.ts";
import type { Store } from "../store/store.ts";

export const repeatedStageReason = "the lead has reached this stage before";

/** `MQL` and `Lead Qualified` are one stage. */
export const stageOf = (name: string): string => usualEventOf(name) ?? foldName(name);

/** Null for an event without a lead id: a person may well fill in two forms. */
export const stageClaimOf = ({ mode, leadId, name, orderId }: Event): string | null =>
  leadId === undefined ? null : stageClaim(mode, leadId, stageOf(name), orderId);

export async function isRepeatedStage(store: Pick<Store, "events">, event: Event): Promise<boolean> {
  const claim = stageClaimOf(event);
  const first = claim === null ? null : await store.events.findIdByClaim(event.siteId, claim);
  return first !== null && first !== event.id;
}
