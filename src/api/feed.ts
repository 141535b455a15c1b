// Serves the live feed: events of all nodes as they arrive. One poll per second and site serves every listener of that
// site. An event is sent again when its deliveries change within its first 30 seconds, so that listeners see its outcome.

import { poll, type Poll } from "../background/poll.ts";
import { minuteMs } from "../kernel/time.ts";
import { withDeliveries, type FeedContext, type ShownEvent } from "./handlers/events.ts";
import { threadShare } from "../kernel/concurrency.ts";
import { say } from "../kernel/messages/message.ts";
import { Denied } from "../kernel/refusal.ts";
import { writeAnswer } from "./answer.ts";

const pollMs = 1000;
/** An event's id is older than its commit: events may appear this late. */
const lookBackMs = 5000;
const followMs = 30_000;
/** In a flood only the newest events are sent. */
const maxEvents = 100;
const maxPerActor = 5;
const maxPerSite = 50;
const maxStreams = 200;

type FeedState = {
  streams: Set<Stream>;
  /** Recent events that were sent, by id, with the state that was sent. */
  sent: Map<string, { receivedAt: number; state: string }>;
};
type SiteFeed = FeedState & { loop: Poll };

export function createFeed(context: FeedContext) {
  const { store, now } = context;
  const sites = new Map<string, SiteFeed>();
  const streamsOf = new Map<string, number>();
  let open = 0;

  async function sendChanges(siteId: string, site: FeedState, since: number): Promise<void> {
    const { events } = await store.events.listPage(
      siteId,
      { from: Math.min(Math.max(since, now() - followMs), now()) - lookBackMs },
      { before: null, limit: maxEvents },
    );
    for (const event of (await withDeliveries(context, siteId, events)).toReversed()) {
      await threadShare.rest(siteId);
      const state = JSON.stringify([event.status, event.deliveries]);
      if (site.sent.get(event.id)?.state === state) continue;
      site.sent.set(event.id, { receivedAt: event.receivedAt, state });
      // Written once for all listeners who may see the same of it.
      for (const [show, listeners] of Map.groupBy(site.streams, (one) => one.show)) {
        const message = show(event);
        if (message !== null) for (const { send } of listeners) send(message);
      }
    }
    for (const [id, { receivedAt }] of site.sent) if (receivedAt < now() - followMs - 2 * lookBackMs) site.sent.delete(id);
  }

  function startFeed(siteId: string): SiteFeed {
    const since = now();
    const state: FeedState = { streams: new Set(), sent: new Map() };
    const loop = poll({
      everyMs: pollMs,
      firstMs: pollMs,
      work: () => sendChanges(siteId, state, since),
      // A failed poll is repeated; the list of events still shows everything.
      onError: () => {},
    });
    const site: SiteFeed = { ...state, loop };
    sites.set(siteId, site);
    return site;
  }

  return {
    /** `isAllowed` is checked again while the stream lasts. `show` writes what this listener may see of an event. */
    listen(siteId: string, actor: string, isAllowed: () => Promise<boolean>, show: Show = showWhole): AsyncIterable<string> {
      const held = streamsOf.get(actor) ?? 0;
      const ofSite = sites.get(siteId)?.streams.size ?? 0;
      if (held >= maxPerActor || ofSite >= maxPerSite || open >= maxStreams)
        throw new Denied("too_many", say("too_many_feeds"), 30);
      const site = sites.get(siteId) ?? startFeed(siteId);
      open += 1;
      streamsOf.set(actor, held + 1);
      const stream = createStream(show, isAllowed, () => {
        open -= 1;
        const left = (streamsOf.get(actor) ?? 1) - 1;
        if (left) streamsOf.set(actor, left);
        else streamsOf.delete(actor);
        site.streams.delete(stream);
        if (site.streams.size) return;
        void site.loop.stop();
        if (sites.get(siteId) === site) sites.delete(siteId);
      });
      site.streams.add(stream);
      return stream.pieces;
    },
  };
}

const keepAliveMs = 15_000;
/** Every stream is checked at this interval: it ends with its session or API key. */
const checkMs = 2_000;
/** Ends every stream after this time; browsers reconnect by themselves. */
const maxStreamMs = 10 * minuteMs;
/** A slow listener misses the oldest messages. */
const maxQueued = 500;

type Show = (event: ShownEvent) => string | null;
const showWhole: Show = (event) => `data: ${writeAnswer(event)}\n\n`;
type Stream = { show: Show; send: (message: string) => void; pieces: AsyncIterable<string> };

/** Opens the stream of one listener: a bounded queue of messages, with keep-alives. */
function createStream(show: Show, isAllowed: () => Promise<boolean>, onEnd: () => void): Stream {
  const queue: string[] = ["retry: 3000\n\n"];
  let waiting: ((result: IteratorResult<string>) => void) | null = null;
  let ended = false;

  function send(message: string): void {
    if (ended) return;
    if (waiting) {
      waiting({ done: false, value: message });
      waiting = null;
      return;
    }
    if (queue.length >= maxQueued) queue.shift();
    queue.push(message);
  }

  function end(): void {
    if (ended) return;
    ended = true;
    clearInterval(keepAlive);
    void checking.stop();
    clearTimeout(timeout);
    waiting?.({ done: true, value: undefined });
    waiting = null;
    onEnd();
  }

  const keepAlive = setInterval(() => send(": alive\n\n"), keepAliveMs);
  const checking = poll({
    everyMs: checkMs,
    firstMs: checkMs,
    async work() {
      if (!(await isAllowed())) end();
    },
    // A failed check counts as not allowed.
    onError: end,
  });
  const timeout = setTimeout(end, maxStreamMs);

  const iterator: AsyncIterator<string> = {
    async next() {
      const message = queue.shift();
      if (message !== undefined) return { done: false, value: message };
      if (ended) return { done: true, value: undefined };
      return new Promise((resolve) => {
        waiting = resolve;
      });
    },
    // Ends immediately; a generator would first wait for the next message.
    async return() {
      end();
      return { done: true, value: undefined };
    },
  };
  return { show, send, pieces: { [Symbol.asyncIterator]: () => iterator } };
}
