// Delivers serialised conversions: repeats what failed temporarily until the time budget is used, and gives one outcome to each.
//
// Repeating is safe because the relay answers an event that it has already with `deduped`. Every repeat sends the bytes of the
// first attempt, so the order id is the same.

import type { Accepted, Outcome, Refused } from "./conversion.ts";
import { exchange, type Answer, type Fetch } from "./exchange.ts";

export type Settings = {
  fetch: Fetch;
  inbound: string;
  key: string;
  timeoutMs: number;
  budgetMs: number;
  batchBudgetMs: number;
  firstDelayMs: number;
};

/** The relay's limits of a batch. */
export const maxBatchEvents = 500;
const maxBatchBytes = 2 * 1024 * 1024;
const maxDelayMs = 30_000;
/** An error message repeats no more of an answer, which may be a page of a proxy. */
const maxErrorLength = 300;

export async function deliverOne(settings: Settings, body: string): Promise<Outcome> {
  const [outcome] = await deliver(settings, [body], Date.now() + settings.budgetMs, "single");
  return outcome as Outcome;
}

/** Returns the outcomes in the order of the bodies. All requests share one time budget. */
export async function deliverAll(settings: Settings, bodies: readonly string[]): Promise<Outcome[]> {
  const deadline = Date.now() + settings.batchBudgetMs;
  const outcomes: Outcome[] = [];
  for (const batch of splitIntoBatches(bodies)) outcomes.push(...(await deliver(settings, batch, deadline, "batch")));
  return outcomes;
}

async function deliver(
  settings: Settings,
  bodies: readonly string[],
  deadline: number,
  form: "single" | "batch",
): Promise<Outcome[]> {
  const outcomes: Outcome[] = bodies.map(() => notSent);
  let open = bodies.map((_, index) => index);
  for (let attempt = 0; ; attempt++) {
    const timeoutMs = Math.min(settings.timeoutMs, deadline - Date.now());
    // Of a list with several batches, the later ones may find the budget used.
    if (timeoutMs <= 0) return outcomes;
    const sent = open.map((index) => bodies[index] as string);
    const answer = await exchange(settings.fetch, {
      url: form === "single" ? settings.inbound : `${settings.inbound}/batch`,
      key: settings.key,
      body: form === "single" ? (sent[0] as string) : `{"events":[${sent.join(",")}]}`,
      timeoutMs,
    });
    // The budget cut this attempt short: the one before says more.
    if (answer.status === 0 && attempt > 0 && timeoutMs < settings.timeoutMs) return outcomes;
    if (answer.status === 413 && sent.length > 1) {
      // A proxy may allow smaller bodies than the relay does.
      const middle = Math.ceil(sent.length / 2);
      for (const [start, half] of [
        [0, sent.slice(0, middle)],
        [middle, sent.slice(middle)],
      ] as const) {
        const found = await deliver(settings, half, deadline, form);
        for (const [i, outcome] of found.entries()) outcomes[open[start + i] as number] = outcome;
      }
      return outcomes;
    }
    const found = form === "single" ? [readSingle(answer)] : readBatch(answer, sent.length);
    for (const [i, outcome] of found.entries()) outcomes[open[i] as number] = outcome;
    open = open.filter((index) => isRetryable(outcomes[index]));
    if (open.length === 0) return outcomes;
    // The back-off is the least wait, so that a Retry-After of 0 makes no busy loop.
    const delay = Math.max(answer.retryAfterMs ?? 0, backOff(settings.firstDelayMs, attempt));
    if (Date.now() + delay >= deadline) return outcomes;
    await new Promise((resolve) => setTimeout(resolve, delay));
  }
}

const notSent: Refused = {
  ok: false,
  status: 0,
  error: "not sent: the time budget was used",
  retryable: true,
};

const isRetryable = (outcome: Outcome | undefined) => outcome?.ok === false && outcome.retryable;

/** Doubles the wait with each attempt; the random half keeps many senders from returning at the same moment. */
function backOff(firstDelayMs: number, attempt: number): number {
  return Math.min(firstDelayMs * 2 ** attempt, maxDelayMs) * (0.5 + Math.random() / 2);
}

function readSingle(answer: Answer): Outcome {
  const body = answer.status === 200 ? parse(answer.text) : null;
  // Only the relay answers ok: true; a proxy in between may also answer 200.
  return isAccepted(body) ? body : refusalOf(answer);
}

function readBatch(answer: Answer, count: number): Outcome[] {
  const body = answer.status === 200 ? parse(answer.text) : null;
  const results = isAccepted(body) ? (body as { results?: unknown }).results : null;
  if (!Array.isArray(results) || results.length !== count) {
    const whole = refusalOf(answer);
    return Array.from({ length: count }, () => whole);
  }
  return results.map((result: unknown) => (isAccepted(result) ? result : refusalIn(result, answer)));
}

/** Reads the refusal of one event of a batch. */
function refusalIn(result: unknown, { retryAfterMs }: Answer): Refused {
  const { status, error } = (result ?? {}) as { status?: unknown; error?: unknown };
  const known = typeof status === "number" ? status : 0;
  return refusal(known, typeof error === "string" ? error : "no reason given", retryAfterMs);
}

/** Reads the refusal of a whole request: JSON from the relay, any text from a proxy. */
function refusalOf({ status, text, retryAfterMs, cause }: Answer): Refused {
  const body = parse(text) as { error?: unknown } | null;
  const error = typeof body?.error === "string" ? body.error : text.trim();
  if (status !== 200) return { ...refusal(status, error, retryAfterMs), ...(cause === undefined ? {} : { cause }) };
  return refusal(status, `the answer is not the relay's: ${error}`, retryAfterMs);
}

function refusal(status: number, error: string, retryAfterMs: number | null): Refused {
  // Every other status says that the request itself is wrong, so a repeat would fail in the same way.
  const retryable = status === 0 || status === 200 || status === 429 || status >= 500;
  return {
    ok: false,
    status,
    error: error.slice(0, maxErrorLength) || `status ${status}`,
    retryable,
    ...(retryable && retryAfterMs !== null ? { retryAfterMs } : {}),
  };
}

const isAccepted = (body: unknown): body is Accepted =>
  typeof body === "object" && body !== null && (body as { ok?: unknown }).ok === true;

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function splitIntoBatches(bodies: readonly string[]): string[][] {
  const encoder = new TextEncoder();
  const batches: string[][] = [];
  let bytes = 0;
  for (const body of bodies) {
    // With the comma that follows it.
    const size = encoder.encode(body).length + 1;
    const last = batches.at(-1);
    // The rest of a body, {"events":[]}, has 13 bytes.
    if (last && last.length < maxBatchEvents && bytes + size + 13 <= maxBatchBytes) {
      last.push(body);
      bytes += size;
    } else {
      batches.push([body]);
      bytes = size;
    }
  }
  return batches;
}
