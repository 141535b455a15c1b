// Events as they arrive, on whatever node: the store is asked once a second for each site that somebody watches, however
// many do. An event is sent again when its deliveries change within its first half minute, so that its outcome shows.

import type { Store } from "../../store/store.ts";
import { withDeliveries, type ShownEvent } from "../handlers/eventSummary.ts";
import { openStream, type Stream } from "./feedStream.ts";
import { Denied } from "../../kernel/refusal.ts";

const everyMs = 1000;
/** An event's id is made before it is committed: how late one may come to light. */
const lookBackMs = 5000;
const followedMs = 30_000;
/** Of a flood the newest are shown. */
const maxShown = 100;
const maxOfActor = 5;
const maxOfSite = 50;
const maxStreams = 200;

type Watched = {
  streams: Set<Stream>;
  /** What was sent of each recent event: by id, when it came and its deliveries. */
  shown: Map<string, { receivedAt: number; said: string }>;
  timer: NodeJS.Timeout | undefined;
};

export function openFeed(store: Pick<Store, "events">, now: () => number) {
  const sites = new Map<string, Watched>();
  const streamsOf = new Map<string, number>();
  let streams = 0;

  async function look(siteId: string, watched: Watched, since: number): Promise<void> {
    const { events } = await store.events.listPage(
      siteId,
      { from: Math.max(since, now() - followedMs) - lookBackMs },
      { before: null, limit: maxShown },
    );
    for (const event of (await withDeliveries(store, siteId, events)).toReversed()) {
      const said = JSON.stringify([event.status, event.deliveries]);
      if (watched.shown.get(event.id)?.said === said) continue;
      watched.shown.set(event.id, { receivedAt: event.receivedAt, said });
      for (const stream of watched.streams) stream.send(messageOf(event));
    }
    for (const [id, { receivedAt }] of watched.shown)
      if (receivedAt < now() - followedMs - 2 * lookBackMs) watched.shown.delete(id);
  }

  function watch(siteId: string): Watched {
    const watched: Watched = { streams: new Set(), shown: new Map(), timer: undefined };
    const since = now();
    const again = () => {
      watched.timer = setTimeout(() => {
        // A store that does not answer now is asked again; whoever listens has a list beside.
        void look(siteId, watched, since)
          .catch(() => {})
          .finally(() => {
            if (watched.streams.size) again();
          });
      }, everyMs);
    };
    again();
    sites.set(siteId, watched);
    return watched;
  }

  return {
    /** `isAllowed` is asked again while the stream lasts. */
    listen(siteId: string, actor: string, isAllowed: () => Promise<boolean>): AsyncIterable<string> {
      const held = streamsOf.get(actor) ?? 0;
      const ofSite = sites.get(siteId)?.streams.size ?? 0;
      if (held >= maxOfActor || ofSite >= maxOfSite || streams >= maxStreams)
        throw new Denied("too_many", "Too many live feeds are open. Close one of them.", 30);
      const watched = sites.get(siteId) ?? watch(siteId);
      streams += 1;
      streamsOf.set(actor, held + 1);
      const stream = openStream(isAllowed, () => {
        streams -= 1;
        const left = (streamsOf.get(actor) ?? 1) - 1;
        if (left) streamsOf.set(actor, left);
        else streamsOf.delete(actor);
        watched.streams.delete(stream);
        if (watched.streams.size) return;
        clearTimeout(watched.timer);
        if (sites.get(siteId) === watched) sites.delete(siteId);
      });
      watched.streams.add(stream);
      return stream.pieces;
    },
  };
}

const messageOf = (event: ShownEvent) => `data: ${JSON.stringify(event)}\n\n`;
