// One event on its way from the request to the answer, alone or as one of a batch. `call` is the request that carries it.

import type { IncomingMessage } from "node:http";
import type { ReservedId } from "../delivery/ownership.ts";
import { tickMs } from "../kernel/coarseTimers.ts";
import { describeLookAlike, type Event, type Result } from "../kernel/event.ts";
import type { Exit, Received } from "../pipeline.ts";
import type { Site } from "../sites/directory.ts";
import { authenticate, type Admitted, type AuthenticateOptions } from "./authenticate.ts";
import { FieldFault } from "./fieldFault.ts";
import { newEvent, readExtra, readFields, type Body, type Fields } from "./fields.ts";
import type { Load } from "./load.ts";
import { findLookAlikes } from "./lookAlikes.ts";
import { refusals, type InboundRefusal } from "./refusals.ts";
import type { RejectedRequests } from "./rejectedRequests.ts";

/** One wide line per event, for the log and the metrics. The fields of steps that the event did not reach are undefined. */
export type InboundLine = {
  site: string | undefined;
  key: string | undefined;
  event: string | undefined;
  name: string | undefined;
  mode: Event["mode"] | undefined;
  exit: Exit["exit"] | "unavailable" | undefined;
  reasons: readonly string[] | undefined;
  results: Readonly<Record<string, Result>> | undefined;
  /** Undefined when a defect prevented the answer. */
  status: number | undefined;
  /** The code of a refusal. */
  reason: string | undefined;
  /** Why the store did not take the event. It is reported as a defect, and not part of the log line. */
  error: unknown;
  ms: number;
};

export type InboundOptions = {
  authentication: AuthenticateOptions;
  relay: (received: Received, site: Site, deadline: number) => Promise<Exit>;
  relayBatch: (batch: readonly Received[], site: Site, deadline: number) => Promise<PromiseSettledResult<Exit>[]>;
  /** Reads the sender's own trace; absent where no traces are made. */
  readTraceParent?: ((request: IncomingMessage) => string | undefined) | undefined;
  countUse: (admitted: Admitted, now: number) => void;
  /** Makes the id of an event that is relayed at once: the relay releases it. */
  reserveId: (now: number) => ReservedId;
  answerMs: number;
  load: Load;
  now: () => number;
  rejectedRequests: RejectedRequests;
  log: (line: InboundLine) => void;
  onDefect: (error: unknown, about: Record<string, unknown>) => void;
};

/** A request while it is answered, with the log line of the request or of one event of its batch. */
export type InboundCall = { request: IncomingMessage; receivedAt: number; line: InboundLine; options: InboundOptions };

/**
 * The relay ends first, then we stop waiting for the store, then the answer is due. Each may be up to a tick late.
 */
const relayTimeoutMs = (answerMs: number) => answerMs - Math.max(0.04 * answerMs, 3 * tickMs);
const storeTimeoutMs = (answerMs: number) => answerMs - Math.max(0.02 * answerMs, tickMs);

/** All fields from the start, so that every line has the same shape. */
export function newLine(): InboundLine {
  return {
    site: undefined,
    key: undefined,
    event: undefined,
    name: undefined,
    mode: undefined,
    exit: undefined,
    reasons: undefined,
    results: undefined,
    status: undefined,
    reason: undefined,
    error: undefined,
    ms: 0,
  };
}

/** Steps 2 to 6. */
export async function admit({ request, receivedAt, line, options }: InboundCall): Promise<Admitted | InboundRefusal> {
  const admitted = await authenticate(request, options.authentication, receivedAt);
  if ("code" in admitted) return admitted;
  line.site = admitted.site.id;
  line.key = admitted.key.id;
  options.countUse(admitted, receivedAt);
  return options.load.hasRoom(admitted.site.id) ? admitted : refusals.overloaded;
}

type ReadEvent = { fields: Fields; extra: Event["extra"]; lookAlikes: Event["lookAlikes"] };

/** Step 8. */
export function readEvent(body: Body, site: Site, now: number): ReadEvent | InboundRefusal {
  const fields = readFields(body, site, now);
  if (fields instanceof FieldFault) return refusals.invalidField(fields.said);
  return { fields, extra: readExtra(body.fields, site), lookAlikes: findLookAlikes(body.fields) };
}

/** Reserves an id: pass the result to the relay, which releases it. */
export function receive({ fields, extra, lookAlikes }: ReadEvent, { site, key }: Admitted, call: InboundCall): Received {
  const { receivedAt, line, options } = call;
  const reservedId = options.reserveId(receivedAt);
  const event = newEvent(fields, { id: reservedId.id, siteId: site.id, keyId: key.id, mode: key.mode, receivedAt, extra });
  if (lookAlikes) event.lookAlikes = lookAlikes;
  line.event = event.id;
  line.name = event.name;
  line.mode = event.mode;
  const { eventTime, emailDomain, clickIds } = fields;
  return { event, reservedId, eventTime, emailDomain, clickIds, traceParent: options.readTraceParent?.(call.request) };
}

/** By when the relay answers, and how long the store may take at most. */
export function deadlinesOf({ receivedAt, options }: InboundCall): { relayBy: number; storeMs: number } {
  const { answerMs, now } = options;
  return {
    relayBy: receivedAt + relayTimeoutMs(answerMs),
    storeMs: receivedAt + storeTimeoutMs(answerMs) - now(),
  };
}

/**
 * Describes how the relay ended: in the log line, and in the body of the answer, which it returns. `givenName` is the event
 * name as the sender wrote it.
 */
export function describeExit(exit: Exit, givenName: string, { event }: Received, { line, options }: InboundCall): string {
  line.exit = exit.exit;
  line.status = 200;
  switch (exit.exit) {
    case "duplicate":
      options.rejectedRequests.addDuplicate(event.siteId, event.receivedAt);
      return '{"ok":true,"deduped":true}';
    case "filtered":
      // Only the codes: a detail may be the domain of a person.
      line.reasons = [...new Set(exit.reasons.map(({ code }) => code))];
      return '{"ok":true,"filtered":true}';
    case "dispatched":
      line.results = exit.results;
      // Only a test key's answer has more than the contract says: it is read by the person who writes the sender.
      return event.mode === "test" && event.lookAlikes
        ? JSON.stringify({ ok: true, event: givenName, results: exit.results, warnings: event.lookAlikes.map(describeLookAlike) })
        : JSON.stringify({ ok: true, event: givenName, results: exit.results });
  }
}

/** Notes that the store did not take an event: the sender has to retry. */
export function noteUnavailable(error: unknown, { line }: InboundCall): InboundRefusal {
  line.exit = "unavailable";
  line.error = error;
  return refusals.unavailable;
}

/** Counts and logs a refusal of the request, or of one event of a batch. */
export function noteRefusal(refusal: InboundRefusal, { request, receivedAt, line, options }: InboundCall): void {
  line.status = refusal.status;
  line.reason = refusal.code;
  options.rejectedRequests.addRejected(request, refusal, receivedAt);
}
