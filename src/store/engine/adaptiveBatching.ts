// When events should wait for each other. A commit, and the requests that leave after it, cost nearly the same for one event
// as for ten; so a process that is hardly keeping up does better to let a few of them gather first. One that has time to
// spare lets nobody wait.

import { performance } from "node:perf_hooks";

/** The share of its time in which a busy process works. */
const busy = 0.6;
/** Less than a full process makes everybody wait anyway. */
const pauseMs = 6;
/** So many are company enough. */
const enough = 32;
/** How much of the past says how busy the process is. */
const lookEveryMs = 100;

/** How long a group of so many should wait for more, in milliseconds. */
export type Gather = (size: number) => number;

/** How many milliseconds the event loop has waited, and worked. */
type Spent = { idle: number; active: number };

export function gatherWhenBusy(spent: () => Spent = () => performance.eventLoopUtilization()): Gather {
  let last = spent();
  let isBusy = false;

  function look(): void {
    const { idle, active } = spent();
    const [idleMs, activeMs] = [idle - last.idle, active - last.active];
    if (idleMs + activeMs < lookEveryMs) return;
    isBusy = activeMs / (idleMs + activeMs) > busy;
    last = { idle, active };
  }

  return (size) => {
    if (size >= enough) return 0;
    look();
    return isBusy ? pauseMs : 0;
  };
}
