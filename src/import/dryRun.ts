// A dry run: the same story with a store that looks whether an event would be taken and writes nothing.

import type { Acceptance, NewEvent } from "../store/events/events.ts";
import type { Store } from "../store/store.ts";

export type Rehearsal = { store: Store; inFile: () => number; known: () => number };

export function rehearse(store: Store, now: () => number): Rehearsal {
  const claims = new Set<string>();
  let inFile = 0;
  let known = 0;

  async function accept({ event, claim }: NewEvent): Promise<Acceptance> {
    if (claims.has(claim)) {
      inFile += 1;
      return { duplicate: true };
    }
    claims.add(claim);
    const holder = await store.imports.findClaimHolder(event.siteId, claim, now());
    // Its own: it came in before an earlier run of this import ended.
    if (holder === null || holder === event.id) return { duplicate: false, platformEventId: event.id };
    known += 1;
    return { duplicate: true };
  }

  return {
    store: {
      ...store,
      events: { ...store.events, accept },
      imports: { ...store.imports, markHours: async () => {} },
    },
    inFile: () => inFile,
    known: () => known,
  };
}
