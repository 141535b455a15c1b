// What platforms said of the conversions of the demo's history. The relay asks about newer ones itself.

import type { Confirmation } from "../../src/kernel/confirmation.ts";
import { timeOfId } from "../../src/kernel/ids.ts";
import { hourMs } from "../../src/kernel/time.ts";
import { platformOf } from "../../src/platforms/index.ts";
import type { Candidate } from "../../src/store/reconciliation/candidates.ts";
import type { Store } from "../../src/store/store.ts";
import type { Random } from "./random.ts";

const answers: readonly (Pick<Confirmation, "state" | "reason"> & { weight: number })[] = [
  { state: "confirmed", reason: null, weight: 86 },
  { state: "not counted", reason: "no ad click", weight: 7 },
  { state: "not counted", reason: "too old", weight: 3 },
  { state: "unknown", reason: "several reasons", weight: 4 },
];

export async function confirmConversions(
  store: Store,
  random: Random,
  siteId: string,
  events: readonly Candidate[],
  now: number,
): Promise<void> {
  for (const { id: eventId, deliveries } of events)
    for (const { platform, connectionId, state } of deliveries) {
      if (state !== "sent" || platformOf(platform)?.confirmations?.coversAll !== true) continue;
      const acceptedAt = timeOfId(eventId);
      const answeredAt = acceptedAt + 4 * hourMs;
      if (answeredAt > now) continue;
      const answer = random.pickWeighted(answers);
      const question = {
        siteId,
        connectionId,
        subject: eventId,
        eventIds: [eventId],
        acceptedAt,
        asked: 1,
        dueAt: 0,
      };
      const confirmation = { state: answer.state, reason: answer.reason, detail: null };
      const written = [{ eventId, confirmation, countedAs: confirmation }];
      await store.confirmations.answer(question, platform, written, 0, answeredAt);
    }
}
