// Exports spans in the background. An event never waits for it: spans that find the queue full are dropped and counted, as are those
// that the receiver did not take after some repeats.

import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { toFailure, type Answer, type Sender } from "../../delivery/send.ts";
import { english } from "../../kernel/messages/message.ts";
import { retryAfterSeconds } from "../../platforms/shared/response.ts";
import { exportBody, type Span } from "./span.ts";
import type { TraceSettings } from "./settings.ts";

/** `queue full`: made faster than they were taken. `not exported`: the receiver was away, or refused them. */
export type TraceCounts = { exported: number; dropped: { "queue full": number; "not exported": number } };

type ExporterOptions = {
  settings: Pick<TraceSettings, "url" | "headers" | "serviceName">;
  version: string;
  /** This process. */
  instance: string;
  sender: Pick<Sender, "send">;
  log: Pick<Logger, "info" | "warn">;
  now: () => number;
  /** How long spans wait for others. */
  everyMs?: number;
  /** The waits before repeats of a request. */
  repeatMs?: readonly number[];
};

export const maxQueued = 4096;
const maxBatch = 512;
const maxRetryAfterMs = 30_000;
/** Of these, OpenTelemetry's protocol says that the same request may succeed later. */
const temporary: ReadonlySet<number> = new Set([429, 502, 503, 504]);

export type SpanExporter = ReturnType<typeof createSpanExporter>;

export function createSpanExporter(options: ExporterOptions) {
  const { settings, sender, log, now, everyMs = 5000, repeatMs = [1000, 2000, 4000, 8000, 16_000] } = options;
  const counts: TraceCounts = { exported: 0, dropped: { "queue full": 0, "not exported": 0 } };
  const stopping = new AbortController();
  let queue: Span[] = [];
  let sending: Promise<void> | null = null;
  let isFailing = false;
  const timer = setInterval(() => void flush(), everyMs);
  timer.unref();

  /** One request at a time. Resolves when what waits now is sent; what comes meanwhile waits for others. */
  function flush(): Promise<void> {
    sending ??= sendAll().finally(() => (sending = null));
    return sending;
  }

  async function sendAll(): Promise<void> {
    for (let left = queue.length; left > 0 || queue.length >= maxBatch; left -= maxBatch) {
      const batch = queue.slice(0, maxBatch);
      queue = queue.slice(maxBatch);
      const fault = await sendBatch(batch);
      if (fault === null) counts.exported += batch.length;
      else counts.dropped["not exported"] += batch.length;
      if ((fault !== null) === isFailing) continue;
      isFailing = fault !== null;
      if (fault === null) log.info("traces are exported again");
      else log.warn({ fault }, "traces are not exported; events are not affected");
    }
  }

  /** Returns why the spans were not taken; null where they were. */
  async function sendBatch(batch: readonly Span[]): Promise<string | null> {
    const { url, headers, serviceName } = settings;
    const body = exportBody(batch, { serviceName, version: options.version, instance: options.instance });
    const request = { method: "POST", url, headers: { ...headers, "content-type": "application/json" }, body } as const;
    for (let repeats = 0; ; repeats += 1) {
      const answer = await sender.send(request, { platform: "traces", customerAddress: false }).catch(toFailure);
      const { fault, isTemporary, waitMs } = read(answer);
      const pause = repeatMs[repeats];
      if (fault === null || !isTemporary || pause === undefined || stopping.signal.aborted) return fault;
      await sleep(Math.max(pause, waitMs), null, { ref: false, signal: stopping.signal }).catch(() => {});
    }
  }

  function read(answer: Answer): { fault: string | null; isTemporary: boolean; waitMs: number } {
    if (!answer.ok) return { fault: english(answer.error), isTemporary: true, waitMs: 0 };
    const { status, headers } = answer.response;
    const fault = status >= 200 && status < 300 ? null : `HTTP ${status}`;
    const waitMs = Math.min(maxRetryAfterMs, 1000 * (retryAfterSeconds(headers["retry-after"], now()) ?? 0));
    return { fault, isTemporary: temporary.has(status), waitMs };
  }

  return {
    counts,
    add(span: Span): void {
      if (queue.length >= maxQueued) {
        counts.dropped["queue full"] += 1;
        return;
      }
      queue.push(span);
      if (queue.length >= maxBatch) void flush();
    },
    flush,
    /** Sends what is left, once. */
    async close(): Promise<void> {
      clearInterval(timer);
      stopping.abort();
      while (queue.length > 0 || sending) await flush();
    },
  };
}
