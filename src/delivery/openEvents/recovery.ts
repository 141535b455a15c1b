// Recovers after a server was promoted that may lack the last commits, outcomes of this node's events among them.
//
// Invariant: a server has a prefix of the transactions, and the mark is written after the outcomes of the events below it. So the
// promoted server has the outcomes of all events below the mark that it has itself. The mark of this node stays there until the
// outcomes of its open events are written again, and what else is open at or above is queued.

import type { Store } from "../../store/store.ts";
import type { EventList } from "./eventList.ts";
import type { Takeover } from "./takeover.ts";

type Options = { store: Pick<Store, "nodes">; owner: string; events: EventList; takeover: Takeover };

export function createRecovery({ store, owner, events, takeover }: Options) {
  /** The count of promotions that the mark takes into account. */
  let promotions = store.nodes.promotions();
  /** The events from this mark on are those whose outcomes the promoted server may lack. Each promotion has a takeover of its own. */
  let pending: { from: string; takeOver: () => Promise<boolean> } | null = null;

  const isPromoted = () => store.nodes.promotions() !== promotions;

  return {
    promotions: () => promotions,
    /** The mark may not pass this id; null while nothing is to be recovered. */
    from: () => pending?.from ?? null,
    isDone: () => pending === null && !isPromoted(),
    /** Notes a promotion. To be called before the mark is determined. */
    async begin(): Promise<void> {
      if (!isPromoted()) return;
      const seen = store.nodes.promotions();
      const mark = (await store.nodes.readMark(owner)) ?? events.firstId;
      const lowWater = pending && pending.from < mark ? pending.from : mark;
      const upTo = events.lastId();
      const isInHand = (id: string) => id > upTo || events.ids().includes(id);
      pending = { from: lowWater, takeOver: takeover.begin({ owner, lowWater }, isInHand) };
      promotions = seen;
      takeover.reset();
    },
    /** Writes outcomes of open events again, and queues what is open of events that were closed here. */
    async recover(): Promise<void> {
      const due = pending;
      if (!due) return;
      await Promise.all(events.attempts().map((attempts) => attempts.rewrite()));
      if ((await due.takeOver()) && pending === due) pending = null;
    },
  };
}
