// What the relay holds for senders that wait, so that neither its memory nor its time is used up. It is counted in units of the
// largest body of a single event. A request counts what has arrived of its body; an event that is being relayed counts as one.
//
// Invariant: a site that takes something holds at most 2 × free² / max afterwards, or one unit. One busy site gets half, and then the
// share falls faster than what is free: k sites that take all they get, in whatever order, leave more than max / (2k + 1), of which
// another one gets more than 2 × max / (2k + 3)² at once. If the share were all that is free, each would halve what is left, and a dozen
// would leave nothing. Where the share is less than a unit a site gets one, so that only more than √(2 × max) sites leave nothing.
// The share is the same for all: who holds more gets nothing before it has given back, so that in the end all hold the same.

import { maxBodyBytes } from "./body.ts";

/** Sums of fractions are not exact. */
const tiny = 1e-6;

export type Load = ReturnType<typeof createLoad>;

/** Sites that hold nothing any more are forgotten beyond so many. */
const maxIdleSites = 1000;

export function createLoad(max: number) {
  const bySite = new Map<string, { held: number }>();
  /** One request counts no more than this: where there is little room for events, large requests are taken, too. */
  const maxOfRequest = Math.max(1, max / 8);
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

  /** True when there is room for one more event, or for so many units. */
  function hasRoom(siteId: string, units = 1): boolean {
    if (total + tiny >= max) return false;
    const held = (bySite.get(siteId)?.held ?? 0) + units;
    const free = Math.max(0, max - total - units);
    return held <= Math.max(1, (2 * free ** 2) / max) + tiny;
  }

  return {
    hasRoom,
    /** Counts events that are relayed. Returns what `give` gets back; 0 when there is no room for them. */
    take(siteId: string, units: number): number {
      const taken = Math.min(units, maxOfRequest);
      if (!hasRoom(siteId, taken)) return 0;
      add(siteId, taken);
      return taken;
    },
    give: (siteId: string, units: number) => add(siteId, -units),
    /** Counts parts of one body while it is incomplete; `give` ends that. A part for which there is no room is refused. */
    ofBody(siteId: string): HeldBody {
      let held = 0;
      return {
        add(bytes) {
          const units = Math.min(bytes / maxBodyBytes, maxOfRequest - held);
          if (units > tiny && !hasRoom(siteId, units)) return false;
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
