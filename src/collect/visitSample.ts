// Keeps a sample of bot visits and of suspicious ones for people to inspect: a few of each kind and hour, so that a flood does
// not fill the database. Clicks of bots on advertisements are kept up to a higher bound, because platforms pay them back.

import { eraseMasks } from "../kernel/maskAddresses.ts";
import { hourMs } from "../kernel/time.ts";
import type { Observation } from "../traffic/observation.ts";
import { nameOf } from "../traffic/modes.ts";
import { weight, type Judgement } from "../traffic/verdict.ts";
import { anonymize } from "../http/transport.ts";
import type { AdClick } from "./adClick.ts";
import { suspicious } from "../store/statistics/traffic.ts";
import type { Store } from "../store/store.ts";

const keptPerHour = 5;
/** On each site. */
const clicksPerHour = 1000;
const maxKinds = 10_000;

export type JudgedVisit = {
  siteId: string;
  page: string;
  at: number;
  seen: Observation;
  judgement: Judgement;
  /** A bot's click that was not offered before. */
  click: AdClick | null;
};

/** A suspicious visit counts as a person's. There is evidence against it, which does not suffice or is in shadow. */
export const isSuspicious = ({ verdict, wouldBeBot }: Judgement) => !verdict.bot && (verdict.score > 0 || wouldBeBot);

export const isNotable = (judgement: Judgement) => judgement.verdict.bot || isSuspicious(judgement);

/** The kind under which a visit is sampled: the reason of a bot, or the strongest evidence against a suspicious visit. */
export function kindOf(judgement: Judgement): string {
  const [first, ...others] = [...judgement.findings, ...judgement.shadows].map(({ signal }) => signal);
  if (judgement.verdict.bot || !first) return judgement.primary;
  return `${suspicious}${nameOf(others.reduce((strongest, one) => (weight(one) > weight(strongest) ? one : strongest), first))}`;
}

export function sampleVisits(store: Pick<Store, "traffic">, newId: () => string, onDefect: (error: unknown) => void) {
  const kept = new Map<string, number>();
  const writing = new Set<Promise<void>>();
  let hour = 0;

  return {
    offer({ siteId, page, at, seen, judgement, click }: JudgedVisit): void {
      const current = Math.floor(at / hourMs);
      // Visits that are judged late may be of the hour before: they must not begin the counts again.
      if (current > hour) kept.clear();
      hour = Math.max(hour, current);
      const reason = kindOf(judgement);
      const kind = click ? `${siteId} click` : `${siteId} ${reason}`;
      const count = kept.get(kind) ?? 0;
      if (count >= (click ? clicksPerHour : keptPerHour) || kept.size >= maxKinds) return;
      kept.set(kind, count + 1);
      const { verdict } = judgement;
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
          click,
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
