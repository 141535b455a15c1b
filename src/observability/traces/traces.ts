// Traces of events for OpenTelemetry: what the relay did with an event, and how long each step took. Loaded only where an endpoint is
// set. docs/decisions/0017-traces.md says why this is not the SDK.
//
// The ids of a trace come from the id of its event, so that an attempt of the next day, on any node and after any restart, belongs
// to the same trace, and nothing is stored. A trace that the sender began is remembered in memory for a while.

import { hash, randomBytes } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Job } from "../../delivery/job.ts";
import type { Sender } from "../../delivery/send.ts";
import type { Received, TraceStep } from "../../pipeline.ts";
import type { PlatformRequest } from "../../platforms/platform.ts";
import type { Site } from "../../sites/directory.ts";
import type { Settlement } from "../../store/deliveries/delivery.ts";
import type { SpanExporter } from "./exporter.ts";
import type { TraceSettings } from "./settings.ts";

type TraceOptions = {
  settings: Pick<TraceSettings, "sampler" | "passesOn">;
  exporter: Pick<SpanExporter, "add" | "counts" | "close">;
  now: () => number;
  elapsed: () => number;
};

/** `spanId` is the span of the event itself; `parentSpanId` is the sender's. */
type EventTrace = { traceId: string; spanId: string; parentSpanId: string | null; isSampled: boolean };

const maxRemembered = 10_000;

/** `00-TRACE-SPAN-FLAGS`; later versions may have more fields. */
const parentForm = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/;

export type Traces = ReturnType<typeof createTraces>;

export function createTraces({ settings, exporter, now, elapsed }: TraceOptions) {
  const { ratio, isParentBased } = settings.sampler;
  /** Events whose trace a sender began. The oldest are forgotten first. */
  const ofSenders = new Map<string, EventTrace>();
  const clock = createFineClock(now, elapsed);

  /** The same share of events on all nodes, and the same events: the last 56 bits decide, as OpenTelemetry has it. */
  const isChosen = (traceId: string) => Number.parseInt(traceId.slice(-14), 16) / 2 ** 56 < ratio;

  function traceOf(eventId: string): EventTrace {
    const known = ofSenders.get(eventId);
    if (known) return known;
    const ids = hash("sha256", eventId, "hex");
    const traceId = ids.slice(0, 32);
    return { traceId, spanId: ids.slice(32, 48), parentSpanId: null, isSampled: isChosen(traceId) };
  }

  function begin({ event, traceParent }: Received): EventTrace {
    const [, traceId, parentSpanId, flags] = parentForm.exec(traceParent ?? "") ?? [];
    if (traceId === undefined || parentSpanId === undefined) return traceOf(event.id);
    const isSampled = isParentBased ? (Number.parseInt(flags ?? "0", 16) & 1) === 1 : isChosen(traceId);
    const trace = { traceId, spanId: spanIdOf(event.id), parentSpanId, isSampled };
    if (ofSenders.size >= maxRemembered) ofSenders.delete(ofSenders.keys().next().value ?? "");
    ofSenders.set(event.id, trace);
    return trace;
  }

  function end(trace: EventTrace, { event }: Received, site: Site, outcome: string): void {
    exporter.add({
      ...trace,
      name: "receive",
      kind: "server",
      startedAt: event.receivedAt,
      endedAt: clock(),
      attributes: {
        "cleancast.event.id": event.id,
        "cleancast.event.mode": event.mode,
        "cleancast.site": site.hosts[0] ?? "",
        "cleancast.outcome": outcome,
      },
      isError: outcome === "not stored",
    });
  }

  function addStep(name: string, eventId: string, { traceId, spanId }: EventTrace, startedAt: number, isError: boolean): void {
    const ownId = spanIdOf(`${eventId} ${name}`);
    const attributes = {};
    exporter.add({
      traceId,
      spanId: ownId,
      parentSpanId: spanId,
      name,
      kind: "internal",
      startedAt,
      endedAt: clock(),
      attributes,
      isError,
    });
  }

  const step: TraceStep = async (name, { id }, work) => {
    const trace = traceOf(id);
    if (!trace.isSampled) return work;
    const startedAt = clock();
    try {
      const done = await work;
      addStep(name, id, trace, startedAt, false);
      return done;
    } catch (error) {
      addStep(name, id, trace, startedAt, true);
      throw error;
    }
  };

  return {
    /** Names the trace of the sender. */
    readParent: ({ headers: { traceparent } }: IncomingMessage): string | undefined =>
      typeof traceparent === "string" ? traceparent : undefined,

    /** Wraps the relay of one event. */
    async receive<E extends { exit: string }>(received: Received, site: Site, work: () => Promise<E>): Promise<E> {
      const trace = begin(received);
      if (!trace.isSampled) return work();
      let outcome = "not stored";
      try {
        const exit = await work();
        outcome = exit.exit;
        return exit;
      } finally {
        end(trace, received, site, outcome);
      }
    },

    /** Wraps the relay of the events of one request. */
    async receiveAll<E extends { exit: string }>(
      batch: readonly Received[],
      site: Site,
      work: () => Promise<PromiseSettledResult<E>[]>,
    ): Promise<PromiseSettledResult<E>[]> {
      const traces = batch.map(begin);
      const exits = await work().catch((error: unknown) => {
        batch.forEach((received, i) => finish(received, i, undefined));
        throw error;
      });
      batch.forEach((received, i) => finish(received, i, exits[i]));
      return exits;

      function finish(received: Received, index: number, exit: PromiseSettledResult<E> | undefined): void {
        const trace = traces[index];
        if (trace?.isSampled) end(trace, received, site, exit?.status === "fulfilled" ? exit.value.exit : "not stored");
      }
    },

    step,

    /** An attempt ended. One that was given up before it began has no span. */
    addAttempt(platform: string, site: Site | undefined, { eventId, connectionId, state, attempt }: Settlement): void {
      if (!attempt) return;
      const trace = traceOf(eventId);
      if (!trace.isSampled) return;
      exporter.add({
        traceId: trace.traceId,
        spanId: attemptSpanId(eventId, connectionId, attempt.number),
        parentSpanId: trace.spanId,
        name: `attempt ${platform}`,
        kind: "client",
        startedAt: attempt.startedAt,
        endedAt: attempt.startedAt + attempt.durationMs,
        attributes: {
          "cleancast.event.id": eventId,
          "cleancast.site": site?.hosts[0] ?? "",
          "cleancast.platform": platform,
          "cleancast.connection.id": connectionId,
          "cleancast.attempt.number": attempt.number,
          "cleancast.attempt.state": state,
          "cleancast.attempt.conversions": attempt.batch,
          ...(attempt.httpStatus !== null && { "http.response.status_code": attempt.httpStatus }),
        },
        isError: state !== "sent",
      });
    },

    /**
     * Headers that continue a trace at the customer's own receiver. An ad platform could do nothing with them. A request with several
     * events belongs to no single trace.
     */
    headersFor: (platform: string, jobs: readonly Pick<Job, "eventId" | "connectionId" | "attemptsMade">[]) => {
      const [job, other] = jobs;
      if (!settings.passesOn || platform !== "webhook" || !job || other) return undefined;
      const { traceId, isSampled } = traceOf(job.eventId);
      return parentHeader(traceId, attemptSpanId(job.eventId, job.connectionId, job.attemptsMade + 1), isSampled);
    },

    /** Each push of totals is a trace of its own: it belongs to no event. */
    tracePushes: (sender: Sender): Sender => ({
      close: () => sender.close(),
      async send(request, to) {
        const traceId = randomBytes(16).toString("hex");
        if (to.platform !== "outbound" || !isChosen(traceId)) return sender.send(request, to);
        const spanId = randomBytes(8).toString("hex");
        const startedAt = clock();
        const answer = await sender.send(
          settings.passesOn ? withHeaders(request, parentHeader(traceId, spanId, true)) : request,
          to,
        );
        const status = answer.ok ? answer.response.status : null;
        exporter.add({
          traceId,
          spanId,
          parentSpanId: null,
          name: "push totals",
          kind: "client",
          startedAt,
          endedAt: clock(),
          attributes: status === null ? {} : { "http.response.status_code": status },
          isError: status === null || status >= 300,
        });
        return answer;
      },
    }),

    counts: exporter.counts,
    close: () => exporter.close(),
  };
}

const spanIdOf = (text: string) => hash("sha256", text, "hex").slice(32, 48);

const attemptSpanId = (eventId: string, connectionId: string, number: number) => spanIdOf(`${eventId} ${connectionId} ${number}`);

const parentHeader = (traceId: string, spanId: string, isSampled: boolean) => ({
  traceparent: `00-${traceId}-${spanId}-${isSampled ? "01" : "00"}`,
});

const withHeaders = (request: PlatformRequest, headers: Record<string, string>): PlatformRequest => ({
  ...request,
  headers: { ...headers, ...request.headers },
});

/** The time in fractions of a millisecond: most steps take less than one. */
function createFineClock(now: () => number, elapsed: () => number): () => number {
  let offset = now() - elapsed();
  return () => {
    const time = offset + elapsed();
    const real = now();
    // The system clock was set.
    if (Math.abs(real - time) > maxDriftMs) offset = real - elapsed();
    return offset + elapsed();
  };
}
const maxDriftMs = 5;
