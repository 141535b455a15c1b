// The load: senders that wait for their answers, or random arrivals with peaks.

import type { Clock } from "./clock.ts";
import type { Thread } from "./machine.ts";
import type { RelayNode } from "./relayNode.ts";

type Arrivals = {
  perSecond: number;
  /** For one of every ten seconds, the rate is this many times the average. */
  peak?: number;
  /** No event arrives after this. */
  untilMs?: number;
};
export type Load = { senders: number } | Arrivals;

type LoadOptions = {
  clock: Clock;
  random: () => number;
  nodes: readonly RelayNode[];
  sites: number;
  deliveries: number;
  /** Set when the senders share the machine. */
  sender: { thread: Thread; us: number } | null;
  untilMs: number;
  onArrived: () => void;
  onAnswered: (ms: number) => void;
};

export function startLoad(load: Load, options: LoadOptions): void {
  if ("senders" in load) sendInLoop(load.senders, options);
  else sendAtRandom(load, options);
}

function send(options: LoadOptions, nodeAt: number, site: number, then: () => void): void {
  const { clock, nodes, deliveries, sender, onArrived, onAnswered } = options;
  const since = clock.now;
  const node = nodes[nodeAt % nodes.length] as RelayNode;
  const answered = () => {
    onAnswered(clock.now - since);
    then();
  };
  const go = () => node.receive({ site, left: deliveries, answered });
  onArrived();
  if (sender) sender.thread.run(sender.us, go);
  else go();
}

function sendInLoop(senders: number, options: LoadOptions): void {
  let next = 0;
  for (let i = 0; i < senders; i++) {
    const again = () => {
      if (options.clock.now < options.untilMs) send(options, i, (next++ >> 1) % options.sites, again);
    };
    again();
  }
}

const cycleMs = 10_000;
const peakShare = 0.1;

function sendAtRandom({ perSecond, peak = 1, ...load }: Arrivals, options: LoadOptions): void {
  const { clock, random, nodes, sites } = options;
  const untilMs = load.untilMs ?? options.untilMs;
  const calm = (1 - peakShare * peak) / (1 - peakShare);
  const rateNow = () => perSecond * (clock.now % cycleMs < peakShare * cycleMs ? peak : calm);
  // Thinning from the highest rate is correct even when the rate changes between two events.
  const highest = perSecond * Math.max(peak, calm);
  const next = () => {
    if (clock.now >= untilMs) return;
    clock.after((-Math.log(1 - random()) * 1000) / highest, () => {
      if (random() * highest < rateNow())
        send(options, Math.floor(random() * nodes.length), Math.floor(random() * sites), () => {});
      next();
    });
  };
  next();
}
