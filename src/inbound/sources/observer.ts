// What people see of the requests of sources: counts by hour, a sample of the last requests, and the shapes of a few. All of it is
// held in memory and written in groups, off the path of a request; a crash loses at most one interval of it.

import { flushedCounter } from "../../background/flushedCounter.ts";
import { defaultPollMs, poll } from "../../background/poll.ts";
import { minuteMs } from "../../kernel/time.ts";
import type { Source } from "../../sites/directory.ts";
import { shapeOf } from "../../sources/shape.ts";
import type { VerificationFault } from "../../sources/verify.ts";
import type { IncomingHttpHeaders } from "node:http";
import type { InboundCount } from "../../store/statistics/inboundCounts.ts";
import type { SourceOutcome, SourceRequest, SourceShape } from "../../store/sources/sourceRequests.ts";
import type { Store } from "../../store/store.ts";
import { keptType, type SourceResult } from "./results.ts";

export type SourceObserver = ReturnType<typeof observeSources>;

type ObserverOptions = {
  store: Pick<Store, "inboundCounts" | "sourceRequests">;
  /** Names this process, which writes whole counts. */
  writer: string;
  newId: (now: number) => string;
  onDefect: (error: unknown) => void;
  pollMs?: number;
};

/** The sample keeps this many per source and minute; the counts include all. */
const maxPerMinute = 60;
const maxWaiting = 5000;
/** Further wrong signatures of a source within a minute are answered with 429. */
const maxWrongPerMinute = 30;
/** The shape of a request is made at most so often for a source. */
const shapeEveryMs = 5000;
const maxSources = 10_000;

const maxShapesWaiting = 100;
/** Larger requests are not kept whole. */
const maxKeptBytes = 256 * 1024;

/** An authentic request. */
type SeenRequest = {
  type: string;
  body: unknown;
  bytes: Buffer;
  headers: IncomingHttpHeaders;
  settings: Readonly<Record<string, string>>;
};

/** A mapping may read any header but these. */
const credentials = /signature|secret|token|key|auth|cookie/;

const keptHeaders = (headers: IncomingHttpHeaders) =>
  Object.fromEntries(Object.entries(headers).filter(([name, value]) => typeof value === "string" && !credentials.test(name)));

type Recent = { minute: number; kept: number; wrong: number; shapeAt: number };

export function observeSources({ store, writer, newId, onDefect, pollMs = defaultPollMs }: ObserverOptions) {
  const counts = flushedCounter<Omit<InboundCount, "hour" | "count">>({
    writer,
    keyOf: ({ kind }) => kind,
    write: (batch, groupWriter) => store.inboundCounts.save(groupWriter, batch),
    onError: onDefect,
    pollMs,
  });
  const recent = new Map<string, Recent>();
  let requests: SourceRequest[] = [];
  let shapes: SourceShape[] = [];

  function recentOf({ id }: Source, at: number): Recent {
    const minute = Math.floor(at / minuteMs);
    let known = recent.get(id);
    if (!known) {
      if (recent.size >= maxSources) recent.clear();
      recent.set(id, (known = { minute, kept: 0, wrong: 0, shapeAt: -Infinity }));
    } else if (known.minute !== minute) Object.assign(known, { minute, kept: 0, wrong: 0 });
    return known;
  }

  function add(source: Source, result: SourceResult, at: number): void {
    // One that waits is stored already, and counted by what becomes of it.
    if (result.outcome === "waiting") return;
    const { siteId, id: sourceId } = source;
    counts.add({ siteId, kind: `source:${sourceId}:${result.outcome}` }, at);
    const known = recentOf(source, at);
    if (known.kept >= maxPerMinute || requests.length >= maxWaiting) return;
    known.kept += 1;
    requests.push({ siteId, sourceId, id: newId(at), at, ...result, dueAt: null, attempts: 0 });
  }

  async function flush(): Promise<void> {
    const [batch, taken] = [requests, shapes];
    requests = [];
    shapes = [];
    const failures: unknown[] = [];
    // A site whose machine does not answer must not hold up the others.
    for (const ofSite of Map.groupBy(batch, ({ siteId }) => siteId).values())
      await store.sourceRequests.add(ofSite).catch((error: unknown) => {
        failures.push(error);
        requests = [...ofSite, ...requests].slice(0, maxWaiting);
      });
    // A shape that is lost is made again from the next request.
    for (const shape of taken) await store.sourceRequests.addShape(shape).catch((error: unknown) => failures.push(error));
    if (failures.length > 0) throw failures[0];
  }

  const loop = poll({ everyMs: pollMs, firstMs: pollMs, work: flush, onError: onDefect });

  return {
    addResults(source: Source, results: readonly SourceResult[], at: number): void {
      for (const result of results) add(source, result, at);
    },

    /** Counts what became of a request that waited. */
    countLookedUp({ siteId, id }: Source, outcome: SourceOutcome, at: number): void {
      counts.add({ siteId, kind: `source:${id}:${outcome}` }, at);
    },

    /** Returns true where there were too many of late. */
    addWrongSignature(source: Source, reason: VerificationFault, at: number): boolean {
      add(source, { outcome: "refused", reason, detail: null, type: "", deliveryId: null, eventId: null }, at);
      const known = recentOf(source, at);
      known.wrong += 1;
      return known.wrong > maxWrongPerMinute;
    },

    /** The sender is to repeat the request. */
    addPostponed(source: Source, reason: string, at: number): void {
      add(source, { outcome: "postponed", reason, detail: null, type: "", deliveryId: null, eventId: null }, at);
    },

    addShape(source: Source, seen: SeenRequest, at: number): void {
      const known = recentOf(source, at);
      // The clock may have been set back since.
      if (Math.abs(at - known.shapeAt) < shapeEveryMs || shapes.length >= maxShapesWaiting) return;
      known.shapeAt = at;
      const { siteId, id: sourceId } = source;
      const { type, body, bytes, headers, settings } = seen;
      const isKept = settings.keep_requests === "on" && bytes.length <= maxKeptBytes;
      const request = isKept ? JSON.stringify({ headers: keptHeaders(headers), body: bytes.toString("utf8") }) : null;
      shapes.push({ siteId, sourceId, id: newId(at), at, type: keptType(type), shape: JSON.stringify(shapeOf(body)), request });
    },

    /** Writes what is left. */
    async stop(): Promise<void> {
      await Promise.all([counts.stop(), loop.stop()]);
      await flush().catch(onDefect);
    },
  };
}
