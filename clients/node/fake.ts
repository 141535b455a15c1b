// A client for tests: it sends nothing, remembers what it was given, and answers as a relay without platforms would.

import { CleancastError, type ConversionSender, type Flushed } from "./cleancast.ts";
import type { Conversion, Outcome, Refused } from "./conversion.ts";

export class FakeCleancast implements ConversionSender {
  /** The accepted conversions, in order, without duplicates. */
  readonly accepted: Conversion[] = [];
  readonly #orders = new Set<string>();
  readonly #refusals: Refused[] = [];
  #queue: Conversion[] = [];

  /** Lets the next conversion be refused: `refuseNext({ status: 503, error: "Overloaded, retry" })`. */
  refuseNext({ status, error }: { status: number; error: string }): void {
    const retryable = status === 0 || status === 429 || status >= 500;
    this.#refusals.push({ ok: false, status, error, retryable });
  }

  async send(conversion: Conversion): ReturnType<ConversionSender["send"]> {
    const outcome = this.#take(conversion);
    if (!outcome.ok) throw new CleancastError(outcome);
    return outcome;
  }

  async sendBatch(conversions: readonly Conversion[]): Promise<Outcome[]> {
    return conversions.map((one) => this.#take(one));
  }

  enqueue(conversion: Conversion): void {
    this.#queue.push(structuredClone(conversion));
  }

  async flush(): Promise<Flushed> {
    const outcomes = this.#queue.map((one) => this.#take(one));
    this.#queue = [];
    const accepted = outcomes.filter(({ ok }) => ok).length;
    return { accepted, refused: outcomes.length - accepted };
  }

  #take(conversion: Conversion): Outcome {
    const refusal = this.#refusals.shift() ?? check(conversion);
    if (refusal) return refusal;
    const { event, orderId, refundId, email, hashed_email } = conversion;
    if (orderId !== undefined) {
      const person = email?.trim().toLowerCase() ?? hashed_email;
      const order = JSON.stringify([event.toLowerCase(), String(orderId), String(refundId), person]);
      if (this.#orders.has(order)) return { ok: true, deduped: true };
      this.#orders.add(order);
    }
    // A copy, because the caller may change its object later.
    this.accepted.push(structuredClone(conversion));
    return { ok: true, event, results: {} };
  }
}

/** Refuses the mistakes that types cannot find, with the relay's words. */
function check({ email, hashed_email, event, value }: Conversion): Refused | null {
  if (!email?.trim() && !hashed_email?.trim()) return wrong("email or hashed_email required");
  if (!event?.trim()) return wrong("event required");
  if (value !== undefined && value < 0) return wrong('value must not be negative; send a refund as an event named "refund"');
  return null;
}

const wrong = (error: string): Refused => ({ ok: false, status: 400, error, retryable: false });
