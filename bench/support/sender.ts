// A process that posts events to the candidate. It writes HTTP/1.1 to plain sockets, so that it costs less than the measured
// work.

import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { stripe } from "../../standins/senders/payments.ts";
import { prepare } from "../../standins/senders/sender.ts";
import { sheetOf } from "../../standins/senders/sheets.ts";
import { eventFields, type Population } from "./input.ts";
import { quantile } from "../part.ts";
import { answerWith, threadDelay } from "./processes.ts";

export type SiteKey = { host: string; key: string };

/** A source of the kind `stripe`. */
export type SourceTarget = { address: string; secret: string };

export type SendTarget = {
  port: number;
  key: string;
  /** Ports of further nodes: senders are distributed over all of them. */
  otherPorts?: readonly number[];
  /** Replaces `key`: events rotate over these sites. */
  sites?: readonly SiteKey[];
  /** Events go there as Stripe would report them, and not to the inbound endpoint. */
  source?: SourceTarget;
  /** The process of the relay, for `alone50` and `alone99`. */
  pid?: number;
};

export type LoadOptions = { ms: number } &
  // Each sender sends its next event when the last one is answered, for `ms` or until `atLeast` events were sent.
  (
    | { senders: number; atLeast?: number }
    // Events are sent at random times, whether earlier ones are answered or not.
    | { perSecond: number }
  );

type SendOptions = Population & SendTarget & LoadOptions;

export type SendResult = {
  events: number;
  /** Answers with a status other than 200, or with a platform that did not accept. */
  failed: number;
  /** The first failed answer. */
  failure: string;
  seconds: number;
  /** Milliseconds from an event's scheduled time to its answer. */
  p50: number;
  p99: number;
  /**
   * The same without the time in which the main thread of `pid` was ready to run and had to wait for a processor: as on a machine where
   * it has one to itself.
   */
  alone50: number;
  alone99: number;
  aloneMax: number;
};

/** One keep-alive connection; `post` resolves with the answer's head and body as one text. */
class HttpConnection {
  #socket: Socket;
  #text = "";
  #done: (text: string) => void = () => {};
  /** Resolves when the connection is open, or cannot be opened. */
  readonly opened: Promise<unknown>;
  constructor(port: number) {
    this.#socket = connect({ port, host: "127.0.0.1", noDelay: true });
    this.opened = once(this.#socket, "connect").catch(() => {});
    this.#socket.setEncoding("latin1");
    this.#socket.on("data", (part: string) => this.#read(part));
    this.#socket.on("error", (error) => this.#done(`error ${error.message}`));
    this.#socket.on("close", () => this.#done("closed"));
  }
  #read(part: string): void {
    this.#text += part;
    const head = this.#text.indexOf("\r\n\r\n");
    if (head < 0) return;
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(this.#text.slice(0, head))?.[1] ?? 0);
    if (this.#text.length < head + 4 + length) return;
    const whole = this.#text;
    this.#text = "";
    this.#done(whole);
  }
  /** `head` is everything before the length of the body. */
  post(head: string, body: string): Promise<string> {
    return new Promise((resolve) => {
      this.#done = resolve;
      this.#socket.write(`${head}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
    });
  }
  close(): void {
    this.#socket.destroy();
  }
}

const inboundHead = ({ host, key }: SiteKey) =>
  `POST /__cc/inbound HTTP/1.1\r\nHost: ${host}\r\nX-CC-Api-Key: ${key}\r\nContent-Type: application/json\r\n`;

type Post = { head: string; body: string };

/** The same event as a payment that Stripe reports. */
function stripeRequest(
  { address, secret }: SourceTarget,
  { email, value, currency, orderId }: ReturnType<typeof eventFields>,
  at: number,
): Post {
  const message = stripe.checkout({ n: orderId, email, value, currency, at });
  const { headers, body } = prepare(sheetOf("stripe"), message.body(1), { url: address, secrets: [secret] });
  const lines = Object.entries(headers).map(([name, text]) => `${name}: ${text}\r\n`);
  return { head: `POST ${new URL(address).pathname} HTTP/1.1\r\n${lines.join("")}`, body: body.toString() };
}

/** More than a relay takes in a millisecond on one core. */
const maxPerMs = 3;
/** Payments are as far apart as these milliseconds, which are more than a relay takes too. */
const paymentEveryMs = 0.5;

/**
 * Makes the requests of a source before the clock starts. Signing one takes this process longer than writing an event, so that fewer
 * requests would wait at the relay at the same time, and its commits would hold fewer of them.
 */
function signAll(options: SendOptions, source: SourceTarget): Post[] {
  const expected = "perSecond" in options ? (options.ms / 1000) * options.perSecond * 1.2 : options.ms * maxPerMs;
  const count = Math.ceil(Math.max(expected, "senders" in options ? (options.atLeast ?? 0) + options.senders : 0));
  const first = Date.now() - 1000 - count * paymentEveryMs;
  return Array.from({ length: count }, (_, i) => stripeRequest(source, eventFields(i, options), first + i * paymentEveryMs));
}

async function sendEvents(options: SendOptions): Promise<SendResult> {
  const result = { events: 0, failed: 0, failure: "" };
  const latencies: number[] = [];
  const alone: number[] = [];
  const { pid } = options;
  const sites = options.sites ?? [{ host: "shop.example.com", key: options.key }];
  // Two consecutive events go to the same site, so that on every site half of the events belong to people with a record.
  const siteOf = (i: number) => sites[(i >> 1) % sites.length] as SiteKey;
  const { source } = options;
  const signed = source ? signAll(options, source) : [];
  const postOf = (i: number): Post =>
    source
      ? (signed[i] ?? stripeRequest(source, eventFields(i, options), Date.now() - 1000))
      : { head: inboundHead(siteOf(i)), body: JSON.stringify(eventFields(i, options, sites.length)) };
  async function send(connection: HttpConnection, i: number, due: number): Promise<void> {
    const { head, body } = postOf(i);
    const delayBefore = pid === undefined ? 0 : threadDelay(pid);
    const answer = await connection.post(head, body);
    const latency = performance.now() - due;
    latencies.push(latency);
    alone.push(latency - (pid === undefined ? 0 : threadDelay(pid) - delayBefore));
    result.events += 1;
    if (answer.startsWith("HTTP/1.1 200") && !answer.includes('"ok":false')) return;
    result.failed += 1;
    result.failure ||= answer.slice(-300);
  }
  // Opened before the clock starts.
  const ports = portsOf(options);
  const count = "senders" in options ? options.senders : spareConnections;
  const connections = Array.from({ length: count }, (_, i) => connectTo(ports, i));
  await Promise.all(connections.map(({ opened }) => opened));
  const began = performance.now();
  if ("senders" in options) await sendInLoop(options, connections, began, send);
  else await sendAtRandom(options, connections, began, send);
  const seconds = (performance.now() - began) / 1000;
  for (const connection of connections) connection.close();
  const [p50, p99] = [0.5, 0.99].map((share) => quantile(latencies, share)) as [number, number];
  const [alone50, alone99] = [0.5, 0.99].map((share) => quantile(alone, share)) as [number, number];
  return { ...result, seconds, p50, p99, alone50, alone99, aloneMax: alone.reduce((most, one) => Math.max(most, one), 0) };
}

/** Connections of a run with random arrivals. It opens more when all of them wait for an answer. */
const spareConnections = 64;

const portsOf = ({ port, otherPorts = [] }: SendOptions) => [port, ...otherPorts];
const connectTo = (ports: readonly number[], i: number) => new HttpConnection(ports[i % ports.length] as number);

type Send = (connection: HttpConnection, i: number, due: number) => Promise<void>;

/** Ends a run that never reaches `atLeast`. */
const maxMs = 30_000;

async function sendInLoop(
  options: SendOptions & { senders: number; atLeast?: number },
  connections: readonly HttpConnection[],
  began: number,
  send: Send,
): Promise<void> {
  let next = 0;
  function isRunning(): boolean {
    const ms = performance.now() - began;
    return ms < options.ms || (next < (options.atLeast ?? 0) && ms < maxMs);
  }
  await Promise.all(
    connections.map(async (connection) => {
      while (isRunning()) await send(connection, next++, performance.now());
    }),
  );
}

/** Poisson arrivals: the gaps are exponential, as between independent people. */
async function sendAtRandom(
  options: SendOptions & { perSecond: number },
  connections: HttpConnection[],
  began: number,
  send: Send,
): Promise<void> {
  // The connection that was free for the longest time comes next, so that no server closes it as idle.
  const free = [...connections];
  const sent: Promise<void>[] = [];
  let due = began;
  for (let i = 0; due - began < options.ms; i++) {
    due += (-Math.log(1 - Math.random()) * 1000) / options.perSecond;
    // Timers have a resolution of a millisecond; an event may be sent half a millisecond early.
    for (let early = due - performance.now(); early > 0.5; early = due - performance.now())
      await new Promise((resolve) => setTimeout(resolve, early));
    let connection = free.shift();
    if (!connection) connections.push((connection = connectTo(portsOf(options), connections.length)));
    const used = connection;
    sent.push(send(used, i, Math.min(due, performance.now())).then(() => void free.push(used)));
  }
  await Promise.all(sent);
}

if (process.send) answerWith(sendEvents);
