// Fetches the feeds that are due, once a day each, and starts a reconciliation after each list. Every node polls, or asks what it has
// listed where due work is shared; the claim of a feed lets one of them fetch it. A feed that fails is tried again every hour, and costs
// nothing else.

import { poll } from "../background/poll.ts";
import type { AllowList, Resolve } from "../delivery/addresses.ts";
import { download, DownloadFailed } from "../delivery/download.ts";
import type { DueWork } from "../delivery/due/dueWork.ts";
import { forEachConcurrently } from "../kernel/concurrency.ts";
import { english } from "../kernel/messages/message.ts";
import { Refusal } from "../kernel/refusal.ts";
import { dayMs, minuteMs } from "../kernel/time.ts";
import type { Directory, Site } from "../sites/directory.ts";
import { isWorking } from "../sites/directory.ts";
import { feedRetryMs, isDue, type Feed } from "../store/reconciliation/feeds.ts";
import type { Store } from "../store/store.ts";
import { formatOfFeed } from "./feed.ts";
import { startRun } from "./manage.ts";
import { readListed } from "./readListed.ts";
import { newUploadTally, uploadOrders, type UploadTally } from "./uploadOrders.ts";

export type FeedWorkerOptions = {
  store: Pick<Store, "orderFeeds" | "orders" | "reconciliations">;
  dueWork?: Pick<DueWork, "listed">;
  directory: Pick<Directory, "site">;
  allow: AllowList;
  connectMs: number;
  everyMs?: number;
  now: () => number;
  onDefect: (error: unknown, about: Record<string, unknown>) => void;
  onFetched?: (feed: Feed, error: string | null, tally: UploadTally) => void;
  resolve?: Resolve;
};

/** A million orders are about 100 MB. */
const maxBytes = 256 * 1024 * 1024;
const maxMs = 30 * minuteMs;
const maxErrorLength = 500;

export function startFeeds(options: FeedWorkerOptions): { stop(): Promise<void> } {
  const { everyMs = minuteMs, onDefect } = options;
  return poll({
    everyMs,
    firstMs: everyMs * Math.random(),
    jitter: 0.2,
    onError: (error) => onDefect(error, { worker: "order feeds" }),
    work: (signal) => fetchDue(options, signal),
  });
}

/** A site's server may be slow; each has one feed. */
const maxConcurrent = 8;

/** Fetches the feeds that are due. */
export async function fetchDue(options: FeedWorkerOptions, signal: AbortSignal): Promise<void> {
  const { store, directory, now, onDefect } = options;
  await forEachConcurrently(await listDue(options), maxConcurrent, async (feed) => {
    const site = directory.site(feed.siteId);
    if (signal.aborted || !site || !isWorking(site)) return;
    const claimedAt = now();
    try {
      if (await store.orderFeeds.claim(feed, claimedAt)) await fetchOne(options, { feed, site, claimedAt }, signal);
    } catch (error) {
      // A claim ends after an hour, and the feed is tried again.
      onDefect(error, { worker: "order feeds", site: feed.siteId });
    }
  });
}

async function listDue({ store, dueWork, now, onDefect }: FeedWorkerOptions): Promise<Feed[]> {
  const listed = dueWork?.listed("feed", now());
  if (!listed) return store.orderFeeds.listDue(now());
  const feeds = await readListed(
    listed,
    ({ siteId }) => store.orderFeeds.find(siteId),
    (error, sites) => onDefect(error, { worker: "order feeds", sites }),
  );
  return feeds.filter((feed) => isDue(feed, now()));
}

type Claimed = { feed: Feed; site: Site; claimedAt: number };

async function fetchOne(options: FeedWorkerOptions, claimed: Claimed, signal: AbortSignal): Promise<void> {
  const { store, now, onDefect, onFetched = () => {} } = options;
  const { feed, site, claimedAt } = claimed;
  const { error, tally } = await readList(options, claimed, signal);
  // A list that a stop has cut off is fetched again by the next start.
  const dueAt = signal.aborted ? 0 : error === null ? nextDue(feed, now()) : now() + feedRetryMs;
  await store.orderFeeds.end(feed, claimedAt, { error, tally, dueAt, at: now() });
  onFetched(feed, error, tally);
  if (error !== null || tally.written === 0) return;
  await startRun(store, site, {}, { actor: "order feed", now: now() }).catch((refused: unknown) => {
    // Another one runs, or the window has no days yet.
    if (!(refused instanceof Refusal)) onDefect(refused, { worker: "order feeds", site: site.id });
  });
}

/** The same time of the next day; a feed that was late keeps its time. */
function nextDue({ dueAt }: Feed, now: number): number {
  if (dueAt <= 0 || dueAt > now) return now + dayMs;
  return dueAt + Math.ceil((now - dueAt + 1) / dayMs) * dayMs;
}

async function readList(
  { store, allow, connectMs, resolve }: FeedWorkerOptions,
  { feed, site, claimedAt }: Claimed,
  stop: AbortSignal,
): Promise<{ error: string | null; tally: UploadTally }> {
  const { address } = feed;
  if (!address) return { error: "the address cannot be read: set the feed again", tally: newUploadTally() };
  const headers = address.header ? { [address.header.name.toLowerCase()]: address.header.value } : {};
  const format = formatOfFeed(feed, site.settings.timeZone);
  try {
    const tally = await download(
      address.url,
      headers,
      { allow, connectMs, maxMs, maxBytes, stop, ...(resolve ? { resolve } : {}) },
      async (body) => {
        // Loaded on demand: a relay that starts needs no CSV parser.
        const { readTable } = await import("../tables/readTable.ts");
        const table = await readTable(site.id, body, "The answer");
        const target = { store, siteId: site.id, now: claimedAt };
        return uploadOrders(target, table, format, () => !stop.aborted).finally(table.close);
      },
    );
    const error = tally.rows > 0 && tally.written === 0 ? firstReason(tally) : null;
    return { error: stop.aborted ? "the relay was stopped" : error, tally };
  } catch (error) {
    if (!(error instanceof DownloadFailed || error instanceof Refusal)) throw error;
    return { error: firstSentence(english(error.message)).slice(0, maxErrorLength), tally: newUploadTally() };
  }
}

/** The rest may list the columns, which are a row of data in a file without a header: nothing of it is stored. */
const firstSentence = (text: string) => text.split(/(?<=\.) /, 1)[0] ?? "";

const firstReason = ({ reasons }: UploadTally) => `no row could be read: ${Object.keys(reasons)[0] ?? "unknown"}`;
