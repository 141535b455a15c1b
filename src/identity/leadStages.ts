// A lead moves through stages: every stage is an event with the lead's id. One that the lead reaches again, because a CRM set it back, is
// shown and not sent again.

import type { Event } from "../kernel/event.ts";
import { foldName, usualEventOf } from "../platforms/shared/eventNames.ts";
import type { Store } from "../store/store.ts";

export const repeatedStageReason = "the lead has reached this stage before";

/** `MQL` and `Lead Qualified` are one stage. */
export const stageOf = (name: string): string => usualEventOf(name) ?? foldName(name);

/** A lead has few stages. Of a person with more events than this, the newest are compared. */
const maxEvents = 50;

/** Only events with a lead id are looked up: a person may well fill in two forms. */
export async function isRepeatedStage(
  store: Pick<Store, "events">,
  { siteId, mode, name, person, leadId }: Event,
): Promise<boolean> {
  const { emailSha256 } = person;
  if (leadId === undefined || emailSha256 === undefined) return false;
  const earlier = await store.events.list(siteId, { emailSha256, mode, status: "accepted", limit: maxEvents });
  return earlier.some((one) => one.leadId === leadId && stageOf(one.name) === stageOf(name));
}
