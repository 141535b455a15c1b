// The events that a node has in hand, in the order of their ids, and its low-water mark: the id of the oldest one.
//
// Invariant: an event is listed from the moment that it has an id until it is settled, and the ids of a node never decrease, also
// when its clock does. So every open event of the node is at or above each mark that it has written.

import { createUlids } from "../../kernel/ids.ts";
import { append, isLinked, link, nodesOf, remove, type RingNode } from "../../kernel/ring.ts";
import type { FirstAttempts } from "./firstAttempts.ts";

/** `attempts` is null unless the node owns the event; it is set just before the event is accepted. */
export interface ListedEvent extends RingNode<ListedEvent> {
  id: string;
  attempts: FirstAttempts | null;
}

export type EventList = ReturnType<typeof createEventList>;

export function createEventList(now: number) {
  const newUlid = createUlids({ isMonotonic: true });
  const head = link<ListedEvent>({ id: "", attempts: null });
  const firstId = newUlid(now);
  let lastId = firstId;

  return {
    /** Every event of this node has a greater id. */
    firstId,
    lastId: () => lastId,
    /** Lists a new event, with an id of its own. */
    add(at: number): ListedEvent {
      lastId = newUlid(at);
      const listed = link<ListedEvent>({ id: lastId, attempts: null });
      append(head, listed);
      return listed;
    },
    remove: (listed: ListedEvent) => remove(listed),
    lowWater: () => (isLinked(head) ? head.next.id : lastId),
    isEmpty: () => !isLinked(head),
    ids: () => Array.from(nodesOf(head), ({ id }) => id),
    attempts: () => Array.from(nodesOf(head)).flatMap(({ attempts }) => attempts ?? []),
  };
}
