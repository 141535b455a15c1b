// Closes periods and pushes them. Looks once a second; safe beside any number of nodes: the store decides who closes a
// period and in whose hand a webhook is. A receiver that hangs holds up nobody but itself.

import type { Sender } from "../delivery/send.ts";
import type { Push, WebhookKey } from "../store/outbound/pushes.ts";
import type { Store } from "../store/store.ts";
import { openCloser } from "./periods.ts";
import { messageOf, sendMessage } from "./push.ts";
import { afterFailure, type PushRetry } from "./retry.ts";

export type OutboundOptions = {
  store: Store;
  /** Bounds a call to `attemptMs`. */
  sender: Sender;
  attemptMs: number;
  /** This node. */
  owner: string;
  /** Length of a period. */
  pushMs: number;
  retry: PushRetry;
  now: () => number;
  /** Milliseconds that passed, whatever happens to the clock. */
  elapsed: () => number;
  newId: () => string;
  /** A webhook was disabled because its receiver is gone or fails for days. */
  onDisabled: (webhook: WebhookKey, reason: string) => void;
  onDefect: (error: unknown, about: Record<string, unknown>) => void;
};

const pollMs = 1000;
const maxAtOnce = 100;
/** What a lease lasts beyond one call. */
const spareMs = 5000;

/** Starts it; the returned function stops it and resolves when the last push under way is settled. */
export function startOutbound(options: OutboundOptions): () => Promise<void> {
  const { store, now, onDefect, retry } = options;
  const closeDue = openCloser({ ...options, random: retry.random });
  const busy = new Map<string, Promise<void>>();
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let looking: Promise<void> = Promise.resolve();

  async function look(): Promise<void> {
    // What is closed already goes out, whatever keeps the next period from closing.
    await closeDue().catch((error: unknown) => onDefect(error, { outbound: "closing" }));
    for (const key of await store.pushes.findDue(now())) {
      const name = `${key.siteId} ${key.webhookId}`;
      if (stopped || busy.size >= maxAtOnce) return;
      if (busy.has(name)) continue;
      const draining = drain(key)
        .catch((error: unknown) => onDefect(error, { webhook: key.webhookId }))
        .finally(() => busy.delete(name));
      busy.set(name, draining);
    }
  }

  /** One after the other, the oldest first, until nothing waits or the receiver does not take it. */
  async function drain(key: WebhookKey): Promise<void> {
    let isTaken = true;
    while (isTaken && !stopped) isTaken = await pushNext(options, key);
  }

  function run(): void {
    looking = look()
      .catch((error: unknown) => onDefect(error, { worker: "outbound" }))
      .finally(() => {
        if (!stopped) timer = setTimeout(run, pollMs * (0.8 + 0.4 * retry.random()));
      });
  }

  timer = setTimeout(run, 0);
  return async () => {
    stopped = true;
    clearTimeout(timer);
    await looking;
    await Promise.all(busy.values());
  };
}

/** True when the receiver took the oldest period that waits for it. */
async function pushNext(options: OutboundOptions, key: WebhookKey): Promise<boolean> {
  const { store, owner, attemptMs, now, elapsed } = options;
  const leaseMs = attemptMs + spareMs;
  const claimed = elapsed();
  const push = await store.pushes.claim(key, { owner, now: now(), until: now() + leaseMs });
  // A process that stood still for so long may not be the owner any more when it calls.
  if (!push || elapsed() - claimed > spareMs / 2) return false;
  const { answer, calls } = await sendMessage(push.address, messageOf(key.webhookId, push.period), {
    ...options,
    mayGoOn: () => store.pushes.renewLease(key, owner, now() + leaseMs),
  });
  const settled = { ...key, owner, number: push.period.number, at: now(), calls };
  if (answer.ok) return store.pushes.settle({ ...settled, ok: true });

  const { disabled, ...consequence } = afterFailure(answer, push, options.retry, now());
  const line = disabled === null ? null : noticeOf(push, disabled, now());
  const isOurs = await store.pushes.settle({ ...settled, ok: false, ...consequence, disabled: line });
  if (isOurs && disabled !== null) options.onDisabled(key, disabled);
  return false;
}

const noticeOf = ({ siteId, webhookId }: Push, reason: string, at: number) => ({
  siteId,
  actor: "relay",
  action: "webhook disabled",
  detail: { id: webhookId, reason },
  at,
});
