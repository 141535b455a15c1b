// Counts duplicates and rejected requests, which leave no event row, and keeps a sample of the rejected ones. Counts are
// held in memory and written in groups: a stop loses nothing, a crash at most one interval.

import type { IncomingMessage } from "node:http";
import { flushedCounter } from "../background/flushedCounter.ts";
import { defaultPollMs, poll } from "../background/poll.ts";
import { anonymize, clientAddress, type TransportRules } from "../http/transport.ts";
import { minuteMs } from "../kernel/time.ts";
import type { Directory, InboundKey, Site } from "../sites/directory.ts";
import { hostOf, namesNoSite } from "../sites/hosts.ts";
import type { InboundCount, InboundKind } from "../store/statistics/inboundCounts.ts";
import type { RejectedRequest } from "../store/statistics/rejectedRequests.ts";
import type { Store } from "../store/store.ts";
import type { InboundRefusal } from "./refusals.ts";

export type RejectedRequests = {
  addDuplicate(siteId: string, now: number): void;
  addRejected(request: IncomingMessage, refusal: InboundRefusal, now: number): void;
};

type RejectedRequestsOptions = {
  store: Pick<Store, "inboundCounts" | "rejectedRequests">;
  directory: Directory;
  transport: TransportRules;
  /** Names this process, which writes whole counts, so that a repeated write changes nothing. */
  writer: string;
  newId: (now: number) => string;
  /** Called for every rejected request, including those that name no site. */
  onRejected?: (refusal: InboundRefusal) => void;
  onDefect: (error: unknown) => void;
  pollMs?: number;
};

/** The sample keeps this many per site and minute; the counts include all. */
const maxPerMinute = 20;
const maxWaiting = 5000;
const maxHostLength = 260;

/** `stop` writes what is left. */
export function watchRejectedRequests(options: RejectedRequestsOptions): RejectedRequests & { stop(): Promise<void> } {
  const { store, directory, transport, writer, newId, onDefect, pollMs = defaultPollMs } = options;
  const counts = flushedCounter<Omit<InboundCount, "hour" | "count">>({
    writer,
    keyOf: ({ kind }) => kind,
    write: (batch, groupWriter) => store.inboundCounts.save(groupWriter, batch),
    onError: onDefect,
    pollMs,
  });
  const keptBySite = new Map<string, number>();
  let minute = 0;
  let waiting: RejectedRequest[] = [];

  const count = (siteId: string, kind: InboundKind, at: number) => void counts.add({ siteId, kind }, at);

  function isKept(siteId: string, at: number): boolean {
    const current = Math.floor(at / minuteMs);
    if (current !== minute) keptBySite.clear();
    minute = current;
    const kept = keptBySite.get(siteId) ?? 0;
    if (kept >= maxPerMinute || waiting.length >= maxWaiting) return false;
    keptBySite.set(siteId, kept + 1);
    return true;
  }

  async function writeWaiting(): Promise<void> {
    const batch = waiting;
    if (batch.length === 0) return;
    waiting = [];
    try {
      await store.rejectedRequests.add(batch);
    } catch (error) {
      waiting = [...batch, ...waiting].slice(0, maxWaiting);
      throw error;
    }
  }

  const loop = poll({ everyMs: pollMs, firstMs: pollMs, work: writeWaiting, onError: onDefect });

  return {
    addDuplicate: (siteId, at) => count(siteId, "duplicate", at),
    addRejected(request, refusal, at) {
      options.onRejected?.(refusal);
      const host = hostOf(request.headers.host);
      const known = findSite(request, host, directory);
      if (!known) return;
      const { site, key } = known;
      count(site.id, `refused:${refusal.status}`, at);
      if (!isKept(site.id, at)) return;
      waiting.push({
        siteId: site.id,
        id: newId(at),
        at,
        status: refusal.status,
        error: refusal.message,
        host: host.slice(0, maxHostLength),
        keyId: key?.id ?? null,
        address: anonymize(clientAddress(request, transport.trusted)) || null,
      });
    },
    async stop() {
      await Promise.all([counts.stop(), loop.stop()]);
      await writeWaiting().catch(onDefect);
    },
  };
}

/** Finds the site by the host, or by the key where the host names no site. */
function findSite(
  request: IncomingMessage,
  host: string,
  directory: Directory,
): { site: Site; key: InboundKey | undefined } | null {
  const given = request.headers["x-cc-api-key"];
  const key = given ? directory.key(String(given)) : undefined;
  const owner = namesNoSite(host) ? undefined : directory.siteOfHost(host);
  const site = owner ?? (key && directory.site(key.siteId));
  return site ? { site, key: key?.siteId === site.id ? key : undefined } : null;
}
