// Keeps a sample of the bot visits for people to inspect: a few of each kind and hour, so that a flood does not fill the
// database.

import { eraseMasks } from "../kernel/maskAddresses.ts";
import { hourMs } from "../kernel/time.ts";
import type { Observation } from "../traffic/observation.ts";
import type { Judgement } from "../traffic/verdict.ts";
import { anonymize } from "../http/transport.ts";
import type { Store } from "../store/store.ts";

const keptPerHour = 5;
const maxKinds = 10_000;

export type BotVisit = { siteId: string; page: string; at: number; seen: Observation; judgement: Judgement };

export function sampleBots(store: Pick<Store, "traffic">, newId: () => string, onDefect: (error: unknown) => void) {
  const kept = new Map<string, number>();
  const writing = new Set<Promise<void>>();
  let hour = 0;

  return {
    offer({ siteId, page, at, seen, judgement }: BotVisit): void {
      const current = Math.floor(at / hourMs);
      if (current !== hour) kept.clear();
      hour = current;
      const kind = `${siteId} ${judgement.primary}`;
      const count = kept.get(kind) ?? 0;
      if (count >= keptPerHour || kept.size >= maxKinds) return;
      kept.set(kind, count + 1);
      const { primary: reason, verdict } = judgement;
      // The network shows where a visit came from without identifying the visitor.
      const anonymous = { ...seen, address: anonymize(seen.address) };
      const written: Promise<void> = store.traffic
        // A sample is found by no person, so the erasure of one would leave the mask of an address in it.
        .addBotVisit({
          siteId,
          id: newId(),
          seenAt: at,
          reason,
          verdict,
          page: eraseMasks(page),
          seen: anonymous,
        })
        .catch(onDefect)
        .finally(() => writing.delete(written));
      writing.add(written);
    },
    async stop(): Promise<void> {
      await Promise.all(writing);
    },
  };
}
