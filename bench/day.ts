// Simulates two days of an installation: its nodes count and purge at the rates that were measured for one node, and divide the sites
// as the relay does. How the events are spread over sites and hours is assumed.
//
// An hour is counted once, when it has ended, and purged when it is past its retention. A node is taken to do both beside each other,
// because the pauses of each leave half of the time or more.

import { readShare } from "../src/background/share.ts";
import { minuteMs } from "../src/kernel/time.ts";
import { closedAfterMs } from "../src/store/statistics/statistics.ts";
import type { Measured } from "./measured.ts";

type DayOptions = {
  perSecond: number;
  sites: number;
  nodes: number;
  /** The second site has half as many events as the first, the third a third; otherwise all have as many. */
  isUneven: boolean;
};

type Day = {
  /** The share of all events that the largest site has. */
  largestSite: number;
  /** Events a second of the node with the most, over the day. */
  busiestNode: number;
  /** Minutes after which an hour was counted, and after which its events were purged, at worst on the second day. */
  countedAfter: number;
  purgedAfter: number;
  /** True when no node had more left after the second day than after the first. */
  keepsUp: boolean;
};

const minutesOfDay = 24 * 60;
const closedAfterMinutes = closedAfterMs / minuteMs;
/** The rate over the day, of which the mean is 1: a third at night, and 1.7 in the evening. */
const rateAt = (minute: number) => 1 - 0.7 * Math.cos((2 * Math.PI * (minute - 5 * 60)) / minutesOfDay);

/** What waits for a node, oldest first: the events of an hour, and the minute at which it was due. */
type Waiting = { dueAt: number; events: number };

type Queue = { waiting: Waiting[]; latest: number };

/** Works off what is due for a minute. */
function workOff(queue: Queue, minute: number, perSecond: number): void {
  let left = 60 * perSecond;
  for (let first = queue.waiting[0]; first && first.dueAt <= minute && left > 0; first = queue.waiting[0]) {
    const done = Math.min(first.events, left);
    first.events -= done;
    left -= done;
    if (minute >= minutesOfDay) queue.latest = Math.max(queue.latest, minute + 1 - first.dueAt);
    if (first.events > 0) break;
    queue.waiting.shift();
  }
}

const leftIn = (queues: readonly Queue[]) =>
  queues.reduce((sum, { waiting }) => sum + waiting.reduce((all, { events }) => all + events, 0), 0);

export async function simulateDay({ perSecond, sites, nodes, isUneven }: DayOptions, { upkeep }: Measured): Promise<Day> {
  const weights = Array.from({ length: sites }, (_, i) => (isUneven ? 1 / (i + 1) : 1));
  const sum = weights.reduce((all, one) => all + one, 0);
  const owners = Array.from({ length: nodes }, (_, i) => `node-${String(i).padStart(4, "0")}`);
  const shares = await Promise.all(
    owners.map((owner) => readShare({ store: { nodes: { listLiving: () => Promise.resolve(owners) } }, owner })),
  );
  /** Events a second of each node. */
  const rates = owners.map(() => 0);
  for (const [i, weight] of weights.entries()) {
    const node = shares.findIndex((isMine) => isMine(`site${String(i).padStart(6, "0")}`));
    rates[node] = (rates[node] ?? 0) + (perSecond * weight) / sum;
  }

  const results = rates.map((rate) => {
    const counting: Queue = { waiting: [], latest: 0 };
    const purging: Queue = { waiting: [], latest: 0 };
    let hour = 0;
    let leftAfterOne = 0;
    for (let minute = 0; minute < 2 * minutesOfDay; minute += 1) {
      hour += rate * 60 * rateAt(minute);
      if ((minute + 1) % 60 === 0) {
        // As many were received in the same hour some days ago.
        counting.waiting.push({ dueAt: minute + 1 + closedAfterMinutes, events: hour });
        purging.waiting.push({ dueAt: minute + 1, events: hour });
        hour = 0;
      }
      workOff(counting, minute, upkeep.counting);
      workOff(purging, minute, upkeep.purging);
      if (minute === minutesOfDay - 1) leftAfterOne = leftIn([counting, purging]);
    }
    const left = leftIn([counting, purging]);
    return { counting, purging, keepsUp: left <= leftAfterOne * 1.001 };
  });
  return {
    largestSite: (weights[0] ?? 0) / sum,
    busiestNode: Math.max(...rates),
    countedAfter: Math.max(...results.map(({ counting }) => counting.latest)),
    purgedAfter: Math.max(...results.map(({ purging }) => purging.latest)),
    keepsUp: results.every((one) => one.keepsUp),
  };
}
