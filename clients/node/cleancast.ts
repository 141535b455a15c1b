// Sends conversions to a Cleancast relay. It uses web APIs only, so it runs on Node 18+, Deno, Bun and edge runtimes.

import type { Accepted, Conversion, Outcome, Refused } from "./conversion.ts";
import { deliverAll, deliverOne, maxBatchEvents, type Settings } from "./delivery.ts";
import type { Fetch } from "./exchange.ts";

export type { Accepted, Conversion, Item, Outcome, PlatformResult, Refused } from "./conversion.ts";

export type Options = {
  /** The address of the relay: `https://shop.example.com`, with or without `/__cc/inbound`. */
  url: string;
  /** An inbound key of the site, `cc_…`. Keep it on a server. */
  key: string;
  /** The longest wait for one answer, in milliseconds. The relay answers within 10 seconds. Default 15000. */
  timeoutMs?: number;
  /** The time for all attempts of `send`, in milliseconds: a visitor may be waiting for it. Default 10000. */
  budgetMs?: number;
  /** The time for all attempts of `sendBatch` and of the queue, in milliseconds. Default 60000. */
  batchBudgetMs?: number;
  /** The first wait between attempts, in milliseconds; it doubles each time. `Retry-After` goes first. Default 500. */
  firstDelayMs?: number;
  /** The longest time that `enqueue` holds a conversion back to fill a batch, in milliseconds. Default 1000. */
  batchDelayMs?: number;
  /** The number of enqueued conversions that are kept in memory. Default 10000. */
  maxQueue?: number;
  /** Receives each enqueued conversion that was not accepted. Default: a line on the console without personal data. */
  onRefused?: (conversion: Conversion, refused: Refused) => void;
  /** Replaces the global fetch. */
  fetch?: Fetch;
};

/** The methods of the client, which `FakeCleancast` has too. */
export type ConversionSender = Pick<Cleancast, "send" | "sendBatch" | "enqueue" | "flush">;

export type Flushed = { accepted: number; refused: number };

/** A conversion was not accepted, after all attempts. */
export class CleancastError extends Error {
  override readonly name = "CleancastError";
  /** The HTTP status; 0 if no answer arrived. */
  readonly status: number;
  /** True if the same conversion may be accepted later. */
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;

  /** `cause` is the runtime's own error where no answer arrived, such as that of a name that was not found. */
  constructor({ status, error, retryable, retryAfterMs, cause }: Refused) {
    super(status === 0 ? error : `${status} ${error}`, cause === undefined ? undefined : { cause });
    this.status = status;
    this.retryable = retryable;
    this.retryAfterMs = retryAfterMs;
  }
}

type Waiting = { conversion: Conversion; body: string };

export class Cleancast {
  // Private fields are not printed by console.log, util.inspect or JSON.stringify.
  readonly #settings: Settings;
  readonly #batchDelayMs: number;
  readonly #maxQueue: number;
  readonly #onRefused: (conversion: Conversion, refused: Refused) => void;
  #queue: Waiting[] = [];
  /** The number of conversions that are being sent; they count as queued until they have an outcome. */
  #sending = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** The requests of the queue follow each other, so that a slow relay is not asked more and more. */
  #last: Promise<void> = Promise.resolve();
  #flushed: Flushed = { accepted: 0, refused: 0 };

  constructor(options: Options) {
    const fetch = options.fetch ?? globalThis.fetch;
    this.#settings = {
      // Some runtimes refuse a fetch that is called as a method.
      fetch: (url, init) => fetch(url, init),
      inbound: inboundAddress(options.url),
      key: checkKey(options.key),
      timeoutMs: positive("timeoutMs", options.timeoutMs ?? 15_000),
      budgetMs: positive("budgetMs", options.budgetMs ?? 10_000),
      batchBudgetMs: positive("batchBudgetMs", options.batchBudgetMs ?? 60_000),
      firstDelayMs: positive("firstDelayMs", options.firstDelayMs ?? 500),
    };
    this.#batchDelayMs = positive("batchDelayMs", options.batchDelayMs ?? 1000);
    this.#maxQueue = positive("maxQueue", options.maxQueue ?? 10_000);
    this.#onRefused = options.onRefused ?? printRefusal;
  }

  /** Sends one conversion. Throws a CleancastError if it was not accepted within the time budget. */
  async send(conversion: Conversion): Promise<Accepted> {
    const outcome = await deliverOne(this.#settings, serialise(conversion));
    if (!outcome.ok) throw new CleancastError(outcome);
    return outcome;
  }

  /** Sends any number of conversions, and returns the outcome of each, in order. It does not throw for refused ones. */
  async sendBatch(conversions: readonly Conversion[]): Promise<Outcome[]> {
    return deliverAll(this.#settings, conversions.map(serialise));
  }

  /** Takes a conversion, which is sent in a batch within `batchDelayMs`. Throws if the queue is full. Call `flush` at the end. */
  enqueue(conversion: Conversion): void {
    if (this.#queue.length + this.#sending >= this.#maxQueue)
      throw new Error(`the queue is full: ${this.#maxQueue} conversions are waiting; await flush()`);
    this.#queue.push({ conversion, body: serialise(conversion) });
    if (this.#queue.length >= maxBatchEvents) void this.#sendQueue();
    // The timer keeps a process alive until the conversion is sent.
    else this.#timer ??= setTimeout(() => void this.#sendQueue(), this.#batchDelayMs);
  }

  /** Sends all enqueued conversions, resolves when each has an outcome, and counts those since the last call. Never rejects. */
  async flush(): Promise<Flushed> {
    await this.#sendQueue();
    const flushed = this.#flushed;
    this.#flushed = { accepted: 0, refused: 0 };
    return flushed;
  }

  #sendQueue(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const waiting = this.#queue;
    if (waiting.length === 0) return this.#last;
    this.#queue = [];
    this.#sending += waiting.length;
    this.#last = this.#last.then(() => this.#deliver(waiting));
    return this.#last;
  }

  async #deliver(waiting: readonly Waiting[]): Promise<void> {
    const outcomes = await deliverAll(
      this.#settings,
      waiting.map(({ body }) => body),
    );
    this.#sending -= waiting.length;
    for (const [i, outcome] of outcomes.entries()) {
      if (outcome.ok) {
        this.#flushed.accepted += 1;
        continue;
      }
      this.#flushed.refused += 1;
      try {
        this.#onRefused((waiting[i] as Waiting).conversion, outcome);
      } catch (error) {
        // The other conversions still have to be reported.
        console.error("cleancast: onRefused failed:", error);
      }
    }
  }
}

/** JSON turns NaN and Infinity into null, and the relay would count a purchase without a value. */
function serialise(conversion: Conversion): string {
  if (typeof conversion !== "object" || conversion === null) throw new TypeError("a conversion must be an object");
  if (typeof conversion.value === "number" && !Number.isFinite(conversion.value))
    throw new TypeError("value must be a finite number");
  return JSON.stringify(conversion);
}

function printRefusal(_conversion: Conversion, { status, error }: Refused): void {
  console.error(`cleancast: a conversion was not accepted: ${status} ${error}`);
}

function inboundAddress(text: string): string {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw new TypeError("url must be the relay's address, such as https://shop.example.com");
  }
  const isLocal = ["localhost", "127.0.0.1", "[::1]"].includes(url.hostname);
  if (url.protocol !== "https:" && !(url.protocol === "http:" && isLocal))
    throw new TypeError("url must begin with https://: the key would be readable on the way");
  if (url.username || url.password) throw new TypeError("url must not contain a user name or password");
  const path = url.pathname.replace(/\/+$/, "").replace(/\/__cc\/inbound(?:\/batch)?$/, "");
  return `${url.origin}${path}/__cc/inbound`;
}

/** The messages do not repeat the value, which may be a secret in the wrong place. */
function checkKey(key: string): string {
  if (typeof key !== "string" || !/^cc_\w+$/.test(key))
    throw new TypeError("key must be an inbound key of the site, which begins with cc_");
  return key;
}

function positive(name: string, value: number): number {
  if (!Number.isFinite(value) || value <= 0) throw new TypeError(`${name} must be a positive number`);
  return value;
}
