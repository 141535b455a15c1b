// Shares the memory of ad clicks between the nodes of one database, so that a farm whose clicks are spread over them is recognised as
// by one node. Each node writes what it observed every few seconds, in one row, and reads the rows of the others: no query per visit.
// What does not fit, or cannot be written, is forgotten; forgotten evidence makes nobody a bot.

import { defaultPollMs, poll } from "../background/poll.ts";
import { secondMs } from "../kernel/time.ts";
import type { Store } from "../store/store.ts";
import type { ClickNews, TrafficMemory } from "../traffic/frequency.ts";

/** Of one row. A farm shows itself by far fewer. */
const maxNews = 1000;
const maxClickIds = 20;
/** Polls between two exchanges. */
const everyPolls = 3;
/** Rows of this node that the others have read. */
const clearAfterMs = 90 * secondMs;

type SharedTrafficOptions = {
  store: Pick<Store, "traffic">;
  /** Names this process. */
  owner: string;
  memory: () => TrafficMemory;
  now: () => number;
  onDefect: (error: unknown) => void;
  pollMs?: number | undefined;
};

export function shareTraffic({ store, owner, memory, now, onDefect, pollMs = defaultPollMs }: SharedTrafficOptions) {
  let waiting: ClickNews[] = [];
  let number = 0;
  let writtenAt: number | null = null;
  /** The last row that was read of each node. */
  const heard = new Map<string, number>();

  async function write(): Promise<void> {
    const isStale = writtenAt !== null && now() - writtenAt > clearAfterMs;
    if (waiting.length === 0 && !isStale) return;
    const news = waiting;
    waiting = [];
    writtenAt = news.length > 0 ? now() : null;
    await store.traffic.shareNews(owner, (number += 1), news);
  }

  async function read(): Promise<void> {
    const rows = await store.traffic.listNews(owner);
    for (const { writer, number: next, news } of rows) {
      if (next <= (heard.get(writer) ?? 0)) continue;
      heard.set(writer, next);
      for (const one of Array.isArray(news) ? news : []) if (isNews(one)) memory().learn(one, now());
    }
    const writers = new Set(rows.map(({ writer }) => writer));
    for (const writer of heard.keys()) if (!writers.has(writer)) heard.delete(writer);
  }

  const loop = poll({
    everyMs: everyPolls * pollMs,
    firstMs: pollMs,
    jitter: 0.2,
    async work() {
      await write();
      await read();
    },
    onError: onDefect,
  });
  return {
    add(news: ClickNews): void {
      if (waiting.length < maxNews) waiting.push(news.with(6, news[6].slice(0, maxClickIds)) as ClickNews);
    },
    stop: () => loop.stop(),
  };
}

/** Another release may write another form. */
function isNews(news: unknown): news is ClickNews {
  if (!Array.isArray(news) || news.length !== 8) return false;
  const [siteId, source, network, neighbours, flags, member, clickIds, submit] = news as unknown[];
  const areTexts = [siteId, source, network, neighbours, member, ...(Array.isArray(clickIds) ? clickIds : [null])].every(
    (text) => typeof text === "string" && text.length <= 40,
  );
  return areTexts && typeof flags === "number" && (submit === null || (typeof submit === "string" && submit.length <= 40));
}
