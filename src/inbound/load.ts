// What the relay holds for senders that wait, so that neither its memory nor its time is used up. It is counted in units of the
// largest body of a single event. A request counts what has arrived of its body; an event that is being relayed counts as one.
//
// Invariant: a site holds at most as much as is free, so that it can never take everything: one busy site gets half of it, two
// get a third each, and there is always as much left for another one.

import { maxBodyBytes } from "./body.ts";

/** Sums of fractions are not exact. */
const tiny = 1e-6;

export type Load = ReturnType<typeof createLoad>;

/** Sites that hold nothing any more are forgotten beyond so many. */
const maxIdleSites = 1000;

export function createLoad(max: number) {
  const bySite = new Map<string, { held: number }>();
  let total = 0;

  function add(siteId: string, units: number): void {
    total += units;
    const site = bySite.get(siteId);
    if (site) site.held += units;
    else {
      if (bySite.size >= maxIdleSites) for (const [id, { held }] of bySite) if (held < tiny) bySite.delete(id);
      bySite.set(siteId, { held: units });
    }
  }

  const hasRoom = (siteId: string) => total < max && (bySite.get(siteId)?.held ?? 0) + tiny < Math.max(1, max - total);

  return {
    hasRoom,
    /** Counts events that are relayed; false when there is no room for them. */
    take(siteId: string, units: number): boolean {
      if (!hasRoom(siteId)) return false;
      add(siteId, units);
      return true;
    },
    give: (siteId: string, units: number) => add(siteId, -units),
    /** Counts parts of one body while it is incomplete; `give` ends that. A part for which there is no room is refused. */
    ofBody(siteId: string): HeldBody {
      let held = 0;
      return {
        add(bytes) {
          if (!hasRoom(siteId)) return false;
          const units = bytes / maxBodyBytes;
          held += units;
          add(siteId, units);
          return true;
        },
        give() {
          if (held > 0) add(siteId, -held);
          held = 0;
        },
      };
    },
  };
}

export type HeldBody = { add: (bytes: number) => boolean; give: () => void };
