// What came to the endpoint and left no event: duplicates and refused calls. Counted in memory and written in groups; of
// the refused calls a few are kept to be looked at. Nothing is lost on a stop; a crash loses at most one interval.

import type { IncomingMessage } from "node:http";
import { anonymous, clientAddress, type TransportRules } from "../http/transport.ts";
import type { Directory, InboundKey, Site } from "../sites/directory.ts";
import { hostOf, namesNoSite } from "../sites/hosts.ts";
import type { InboundCount, InboundKind } from "../store/statistics/inboundCounts.ts";
import type { RejectedRequest } from "../store/statistics/rejectedRequests.ts";
import type { Store } from "../store/store.ts";
import { hourMs } from "../store/statistics/traffic.ts";
import type { Refusal } from "./errors.ts";

export type Unseen = {
  duplicate(siteId: string, now: number): void;
  refused(request: IncomingMessage, refusal: Refusal, now: number): void;
};

export type UnseenOptions = {
  store: Pick<Store, "inboundCounts" | "rejectedRequests">;
  directory: Directory;
  transport: TransportRules;
  /** This process: it writes whole counts, so that a repeated write changes nothing. */
  writer: string;
  newId: (now: number) => string;
  now: () => number;
  onDefect: (error: unknown) => void;
};

const flushMs = 1000;
const keptHours = 2;
/** Of each site's refused calls this many a minute are kept; the counts know the rest. */
const maxPerMinute = 20;
const maxWaiting = 5000;
const maxHostLength = 260;

type Counter = InboundCount & { isWritten: boolean };

/** `stop` writes what is left. */
export function watchUnseen(options: UnseenOptions): Unseen & { stop(): Promise<void> } {
  const { store, directory, transport, writer, newId, now, onDefect } = options;
  const counters = new Map<string, Counter>();
  const keptOfSite = new Map<string, number>();
  let minute = 0;
  let waiting: RejectedRequest[] = [];
  let writing: Promise<void> = Promise.resolve();

  function count(siteId: string, kind: InboundKind, at: number): void {
    const hour = Math.floor(at / hourMs);
    const key = `${siteId} ${hour} ${kind}`;
    let counter = counters.get(key);
    if (!counter) counters.set(key, (counter = { siteId, hour, kind, count: 0, isWritten: false }));
    counter.count += 1;
    counter.isWritten = false;
  }

  function isKept(siteId: string, at: number): boolean {
    const current = Math.floor(at / 60_000);
    if (current !== minute) keptOfSite.clear();
    minute = current;
    const kept = keptOfSite.get(siteId) ?? 0;
    if (kept >= maxPerMinute || waiting.length >= maxWaiting) return false;
    keptOfSite.set(siteId, kept + 1);
    return true;
  }

  async function writeCounts(): Promise<void> {
    const unwritten = [...counters.values()].filter((counter) => !counter.isWritten);
    if (unwritten.length === 0) return;
    const said = unwritten.map(({ siteId, hour, kind, count: n }) => ({ siteId, hour, kind, count: n }));
    await store.inboundCounts.save(writer, said);
    // What came meanwhile, and all of it after a failure, is said in the next interval.
    for (const [i, counter] of unwritten.entries()) counter.isWritten = counter.count === said[i]?.count;
  }

  async function writeCalls(): Promise<void> {
    const calls = waiting;
    if (calls.length === 0) return;
    waiting = [];
    try {
      await store.rejectedRequests.add(calls);
    } catch (error) {
      waiting = [...calls, ...waiting].slice(0, maxWaiting);
      throw error;
    }
  }

  function flush(): Promise<void> {
    writing = writing.then(writeCounts).catch(onDefect).then(writeCalls).catch(onDefect);
    return writing;
  }

  function forget(): void {
    const oldest = Math.floor(now() / hourMs) - keptHours;
    for (const [key, { hour, isWritten }] of counters) if (isWritten && hour < oldest) counters.delete(key);
  }

  const timer = setInterval(() => {
    void flush();
    forget();
  }, flushMs);

  return {
    duplicate: (siteId, at) => count(siteId, "duplicate", at),
    refused(request, refusal, at) {
      const host = hostOf(request.headers.host);
      const known = knownBy(request, host, directory);
      if (!known) return;
      const { site, key } = known;
      count(site.id, `refused:${refusal.status}`, at);
      if (!isKept(site.id, at)) return;
      waiting.push({
        siteId: site.id,
        id: newId(at),
        at,
        status: refusal.status,
        error: sentenceOf(refusal),
        host: host.slice(0, maxHostLength),
        keyId: key?.id ?? null,
        address: anonymous(clientAddress(request, transport.trusted)) || null,
      });
    },
    async stop() {
      clearInterval(timer);
      await flush();
    },
  };
}

/** Whose call it was: by its host, or by its key where the host names no site. */
function knownBy(
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

/** The same words that the sender got. */
function sentenceOf({ headers, body }: Refusal): string {
  if (!headers["content-type"]?.startsWith("application/json")) return body.trim();
  return String((JSON.parse(body) as { error?: unknown }).error);
}
