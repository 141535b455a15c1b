// Deadlines without a timer each: an event has several, and nearly all are cancelled long before they end. They wait in the
// slots of a wheel, and while any waits, one timer turns the wheel a slot further on each tick. So adding and cancelling are
// cheap, and a deadline ends never early and at most a tick late.

import { append, isLinked, link, nodesOf, remove, type RingNode } from "./ring.ts";

export const tickMs = 20;

/** One turn of the wheel takes 10 s. A deadline that ends later stays in its slot for another turn. */
const slotCount = 512;

/** A deadline that waits in the ring of its slot. */
export interface CoarseTimeout extends RingNode<CoarseTimeout> {
  /** The tick at which it ends. */
  tick: number;
  onEnd: () => void;
}

const newRing = () => link<CoarseTimeout>({ tick: 0, onEnd: () => {} });

const slots = Array.from({ length: slotCount }, newRing);
/** Those that end now: each can still be cancelled by one before it, and one that throws leaves the others to the next tick. */
const ended = newRing();
let waiting = 0;
/** The slots up to this tick are done. */
let ticked = 0;
let timer: NodeJS.Timeout | undefined;
/** The function that set `timer`. Fake timers of a test replace it, and end without their timers. */
let timerFunction = setTimeout;

/** Calls `onEnd` after `ms`, or up to a tick later. */
export function setCoarseTimeout(ms: number, onEnd: () => void): CoarseTimeout {
  const now = performance.now();
  if (timer === undefined || timerFunction !== setTimeout) arm(now);
  // A time that has passed ends with the next tick.
  const tick = Math.max(Math.ceil((now + ms) / tickMs), ticked + 1);
  const timeout = link<CoarseTimeout>({ tick, onEnd });
  append(slotOf(tick), timeout);
  waiting += 1;
  return timeout;
}

/** Does nothing where the timeout has ended. */
export function clearCoarseTimeout(timeout: CoarseTimeout): void {
  if (!isLinked(timeout)) return;
  remove(timeout);
  waiting -= 1;
}

function arm(now: number): void {
  const current = Math.floor(now / tickMs);
  // Time goes back only where fake timers begin or end.
  if (waiting === 0 || current < ticked) ticked = current;
  if (timerFunction === setTimeout) clearTimeout(timer);
  timerFunction = setTimeout;
  timer = setTimeout(onTick, Math.ceil((current + 1) * tickMs - now));
}

function onTick(): void {
  // The timer stops only here: events that follow each other do not start it each time.
  if (waiting === 0) {
    timer = undefined;
    return;
  }
  const now = performance.now();
  arm(now);
  const current = Math.floor(now / tickMs);
  // After a pause of the process, one turn reaches all slots.
  ticked = Math.max(ticked, current - slotCount);
  while (ticked < current) emptySlot(++ticked, current);
  while (isLinked(ended)) {
    const { next: timeout } = ended;
    clearCoarseTimeout(timeout);
    timeout.onEnd();
  }
}

function emptySlot(tick: number, current: number): void {
  for (const timeout of nodesOf(slotOf(tick))) {
    if (timeout.tick > current) continue;
    remove(timeout);
    append(ended, timeout);
  }
}

const slotOf = (tick: number) => slots[tick % slotCount] as CoarseTimeout;
