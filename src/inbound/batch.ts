// POST /__cc/inbound/batch: many events in one request. Each of them is answered as it would have been alone, and a refused
// one does not affect the others.

import type { IncomingMessage, ServerResponse } from "node:http";
import { english } from "../kernel/messages/message.ts";
import { isJsonObject } from "../http/body.ts";
import { writeAnswer } from "../http/reply.ts";
import { threadShare } from "../kernel/concurrency.ts";
import { Late, within } from "../kernel/deadline.ts";
import type { Exit, Received } from "../pipeline.ts";
import { maxBatchEvents } from "../contract/inbound.ts";
import type { Admitted } from "./authenticate.ts";
import { maxBodyBytes, createExactFields, readBody } from "./body.ts";
import type { Body } from "./fields.ts";
import type { HeldBody } from "./load.ts";
import { refusals, sendRefusal, type InboundRefusal } from "./refusals.ts";
import {
  admit,
  deadlinesOf,
  describeExit,
  newLine,
  noteRefusal,
  noteUnavailable,
  readEvent,
  receive,
  type InboundCall,
  type InboundOptions,
} from "./event.ts";

const maxBatchBytes = 2 * 1024 * 1024;
/** One event of the batch. */
type Entry = {
  call: InboundCall;
  received: Received | null;
  /** The event name as the sender wrote it. */
  givenName: string;
  /** The body of a successful answer, or why the event is refused. */
  answer: string | InboundRefusal;
};

export async function answerBatch(request: IncomingMessage, response: ServerResponse, options: InboundOptions): Promise<void> {
  const call = { request, receivedAt: options.now(), line: newLine(), options };
  let calls: InboundCall[] = [call];
  const { load } = options;
  let taken: { siteId: string; units: number } | null = null;
  const refuse = (refusal: InboundRefusal) => {
    noteRefusal(refusal, call);
    sendRefusal(response, refusal);
  };
  try {
    const admitted = await admit(call);
    if ("code" in admitted) return refuse(admitted);
    const siteId = admitted.site.id;
    const read = await readEvents(request, siteId, load.ofBody(siteId));
    if ("code" in read) return refuse(read);
    const { events, bytes } = read;
    // The more of both: events take time, and a large body takes memory until it is answered.
    const units = load.take(siteId, Math.max(1, events.length, bytes / maxBodyBytes));
    if (units === 0) return refuse(refusals.overloaded);
    taken = { siteId, units };

    const entries = await readAll(events, admitted, call);
    calls = entries.map((entry) => entry.call);
    await relayAll(entries, admitted, call);
    for (const entry of entries) if (typeof entry.answer !== "string") noteRefusal(entry.answer, entry.call);
    await threadShare.map(siteId, calls.splice(0), writeLine);
    send(response, entries);
  } finally {
    if (taken) load.give(taken.siteId, taken.units);
    calls.forEach(writeLine);
  }
}

function writeLine({ line, receivedAt, options }: InboundCall): void {
  line.ms = options.now() - receivedAt;
  options.log(line);
}

type EventBody = { fields: unknown; exact: Body["exact"]; isTooLarge: () => boolean };

async function readEvents(
  request: IncomingMessage,
  siteId: string,
  held: HeldBody,
): Promise<{ events: EventBody[]; bytes: number } | InboundRefusal> {
  const body = await readBody(request, maxBatchBytes, refusals.batchTooLarge, held, () => threadShare.nextSlice(siteId));
  if ("code" in body) return body;
  const { events } = body.fields;
  if (!Array.isArray(events) || events.length > maxBatchEvents) return refusals.invalidBatch;
  const exact = createExactFields(body.text);
  const bytes = Buffer.byteLength(body.text);
  const toBody = (fields: unknown, i: number): EventBody => ({
    fields,
    exact: () => eventAt(exact()?.events, i),
    isTooLarge: () => bytes > maxBodyBytes && isLargerThanAlone(fields),
  });
  return { events: events.map(toBody), bytes };
}

/** The limit of a single event. Its own text is not known here, so that spaces between its fields do not count. */
function isLargerThanAlone(fields: unknown): boolean {
  try {
    return Buffer.byteLength(JSON.stringify(fields)) > maxBodyBytes;
  } catch {
    // Nested too deeply to be written, though not to be read.
    return false;
  }
}

function eventAt(events: unknown, index: number): Record<string, unknown> | undefined {
  const event: unknown = Array.isArray(events) ? events[index] : undefined;
  return isJsonObject(event) ? event : undefined;
}

/** The ids of the events are reserved here, and released by the relay. */
async function readAll(events: readonly EventBody[], admitted: Admitted, whole: InboundCall): Promise<Entry[]> {
  const { site, key } = admitted;
  const { receivedAt, options } = whole;
  const { rateLimit } = options.authentication;
  const read = await threadShare.map(site.id, events, ({ fields, exact, isTooLarge }, i) => {
    // The first event was counted with the request.
    if (i > 0) options.countUse(admitted, receivedAt);
    const waitSeconds = i > 0 ? rateLimit(key.id, site.settings.rateLimit, receivedAt) : 0;
    if (waitSeconds > 0) return refusals.rateLimited(waitSeconds);
    if (!isJsonObject(fields)) return refusals.eventNotAnObject;
    if (isTooLarge()) return refusals.tooLarge;
    return readEvent({ fields, exact }, site, receivedAt);
  });
  // No id is reserved before all events are read: a defect in between would leave it reserved.
  return read.map((one) => {
    const call = { ...whole, line: { ...whole.line } };
    if ("code" in one) return { call, received: null, givenName: "", answer: one };
    return { call, received: receive(one, admitted, call), givenName: one.fields.givenName, answer: refusals.unavailable };
  });
}

/** Relays the events that were read, and sets their answers. */
async function relayAll(entries: readonly Entry[], { site }: Admitted, whole: InboundCall): Promise<void> {
  const { options } = whole;
  const relayed = entries.filter(({ received }) => received);
  const batch = relayed.map(({ received }) => received as Received);
  const { relayBy, storeMs } = deadlinesOf(whole);
  const exits = await within(storeMs, options.relayBatch(batch, site, relayBy), "the store did not answer in time", Late).catch(
    (error: unknown) => batch.map(() => ({ status: "rejected", reason: error }) as const),
  );
  const reported = new Set<unknown>();
  await threadShare.map(site.id, relayed, (entry, i) => {
    const exit = exits[i] as PromiseSettledResult<Exit>;
    const received = batch[i] as Received;
    if (exit.status === "fulfilled") {
      entry.answer = describeExit(exit.value, entry.givenName, received, entry.call);
      return;
    }
    entry.answer = noteUnavailable(exit.reason, entry.call);
    // The events of a batch usually fail together.
    if (reported.has(exit.reason)) return;
    reported.add(exit.reason);
    options.onDefect(exit.reason, { event: received.event.id, site: site.id });
  });
}

/**
 * A batch of which the relay took nothing for reasons of its own is refused as a whole, so that senders that only look at the
 * status repeat it.
 */
function send(response: ServerResponse, entries: readonly Entry[]): void {
  const refused = entries.flatMap(({ answer }) => (typeof answer === "string" ? [] : [answer]));
  const repeatable = refused.filter(({ headers }) => headers["retry-after"]);
  const worst = repeatable.toSorted((one, other) => secondsOf(other) - secondsOf(one))[0];
  if (worst && refused.length === entries.length) return sendRefusal(response, worst);
  const bodies = entries.map(({ answer }) => (typeof answer === "string" ? answer : renderRefusal(answer)));
  const body = `{"ok":true,"results":[${bodies.join()}]}`;
  const headers = worst ? { "retry-after": worst.headers["retry-after"] } : {};
  writeAnswer(response, 200, body, { headers });
}

const secondsOf = ({ headers }: InboundRefusal) => Number(headers["retry-after"]);

const renderRefusal = ({ message, status }: InboundRefusal) => JSON.stringify({ ok: false, error: english(message), status });
