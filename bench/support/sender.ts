// Senders: a process that posts events to whoever is measured. It speaks HTTP/1.1 over plain sockets, so that it costs less
// than what it measures.

import { connect, type Socket } from "node:net";
import { eventFields, type Population } from "./input.ts";
import { quantile } from "../part.ts";
import { answerWith } from "./processes.ts";

/** Where a site's events are sent, and with what. */
export type SiteKey = { host: string; key: string };

export type Order = Population & {
  port: number;
  key: string;
  ms: number;
  /** Further nodes: senders are dealt out to all of them. */
  beside?: readonly number[];
  /** In place of `key`: events of these sites in turn. */
  sites?: readonly SiteKey[];
} &
  // Each sends its next event when the last one is answered; for longer than `ms` where that is needed for `atLeast`.
  (
    | { senders: number; atLeast?: number }
    // Events come when they come, whether the last ones are answered or not.
    | { perSecond: number }
  );

export type Sendings = {
  events: number;
  /** Answers that were not 200, or named a platform that did not accept. */
  failed: number;
  /** The first of them. */
  failure: string;
  seconds: number;
  /** Milliseconds, from the moment at which an event should have been sent. */
  p50: number;
  p99: number;
};

/** One connection; resolves with the answer's head and body as one text. */
class Line {
  #socket: Socket;
  #text = "";
  #done: (text: string) => void = () => {};
  constructor(port: number) {
    this.#socket = connect({ port, host: "127.0.0.1", noDelay: true });
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
  post({ host, key }: SiteKey, body: string): Promise<string> {
    return new Promise((resolve) => {
      this.#done = resolve;
      this.#socket.write(
        `POST /__cc/inbound HTTP/1.1\r\nHost: ${host}\r\nX-CC-Api-Key: ${key}\r\n` +
          `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
      );
    });
  }
  close(): void {
    this.#socket.destroy();
  }
}

async function carryOut(order: Order): Promise<Sendings> {
  const made = { events: 0, failed: 0, failure: "" };
  const latencies: number[] = [];
  const sites = order.sites ?? [{ host: "shop.example.com", key: order.key }];
  // By twos: every second event is of a person with a record, on every site.
  const siteOf = (i: number) => sites[(i >> 1) % sites.length] as SiteKey;
  const began = performance.now();
  async function send(line: Line, i: number, due: number): Promise<void> {
    const answer = await line.post(siteOf(i), JSON.stringify(eventFields(i, order)));
    latencies.push(performance.now() - due);
    made.events += 1;
    if (answer.startsWith("HTTP/1.1 200") && !answer.includes('"ok":false')) return;
    made.failed += 1;
    made.failure ||= answer.slice(-300);
  }
  if ("senders" in order) await inTurn(order, began, send);
  else await asScheduled(order, began, send);
  const seconds = (performance.now() - began) / 1000;
  return { ...made, seconds, p50: quantile(latencies, 0.5), p99: quantile(latencies, 0.99) };
}

const portsOf = ({ port, beside = [] }: Order) => [port, ...beside];

type Send = (line: Line, i: number, due: number) => Promise<void>;

/** Whatever was asked for, a benchmark has to end. */
const maxMs = 30_000;

async function inTurn(
  order: Order & { senders: number; atLeast?: number },
  began: number,
  send: Send,
): Promise<void> {
  let next = 0;
  function goesOn(): boolean {
    const ms = performance.now() - began;
    return ms < order.ms || (next < (order.atLeast ?? 0) && ms < maxMs);
  }
  const ports = portsOf(order);
  await Promise.all(
    Array.from({ length: order.senders }, async (_, sender) => {
      const line = new Line(ports[sender % ports.length] as number);
      while (goesOn()) await send(line, next++, performance.now());
      line.close();
    }),
  );
}

/** Poisson arrivals: the gaps are those of people who do not know of each other. */
async function asScheduled(order: Order & { perSecond: number }, began: number, send: Send): Promise<void> {
  const free: Line[] = [];
  const all: Line[] = [];
  const sent: Promise<void>[] = [];
  const ports = portsOf(order);
  let due = began;
  for (let i = 0; due - began < order.ms; i++) {
    due += (-Math.log(1 - Math.random()) * 1000) / order.perSecond;
    // Timers count in whole milliseconds; an event that is less than half of one early may go.
    for (let early = due - performance.now(); early > 0.5; early = due - performance.now())
      await new Promise((resolve) => setTimeout(resolve, early));
    let line = free.pop();
    if (!line) all.push((line = new Line(ports[all.length % ports.length] as number)));
    const used = line;
    sent.push(send(used, i, Math.min(due, performance.now())).then(() => void free.push(used)));
  }
  await Promise.all(sent);
  for (const line of all) line.close();
}

if (process.send) answerWith(carryOut);
