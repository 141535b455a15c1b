// Closes periods and pushes them to the webhooks, on any number of nodes: the store decides which node closes a period and
// which one holds a webhook. A receiver that hangs delays no other, and those of one site hold few of the pushes under way.

import { say } from "../kernel/messages/message.ts";
import { startStopwatch } from "../background/lease.ts";
import { defaultPollMs, poll } from "../background/poll.ts";
import { localClock, type SharedClock } from "../background/sharedClock.ts";
import { dayMs, hourMs } from "../kernel/time.ts";
import { nextAttemptAt, type RetryRules } from "../delivery/decide.ts";
import { createDueWork, type DueWork } from "../delivery/due/dueWork.ts";
import type { Sender } from "../delivery/send.ts";
import type { Push, WebhookKey } from "../store/outbound/pushes.ts";
import type { Store } from "../store/store.ts";
import { createCloser } from "./periods.ts";
import { messageOf, sendMessage, type PushReading } from "./push.ts";

type OutboundOptions = {
  store: Store;
  /** Bounds a call to `attemptMs`. */
  sender: Sender;
  attemptMs: number;
  /** This node. */
  owner: string;
  /** Length of a period. */
  pushMs: number;
  retry: RetryRules;
  now: () => number;
  /** The clock of leases and due times; by default the node's own, which is enough for a single node. */
  clock?: SharedClock;
  /** Finds what is due; by default by asking the store. */
  dueWork?: DueWork;
  /** Milliseconds on a monotonic clock. */
  elapsed: () => number;
  pollMs?: number;
  newId: () => string;
  /** A webhook was disabled because its receiver is gone or fails for days. */
  onDisabled: (webhook: WebhookKey, reason: string) => void;
  onDefect: (error: unknown, about: Record<string, unknown>) => void;
};

const maxConcurrent = 100;
const maxConcurrentOfSite = 10;
/** Time that a lease lasts beyond one call. */
const spareMs = 5000;

/** `stop` also waits for the pushes under way. */
export function startOutbound(given: OutboundOptions): { stop(): Promise<void> } {
  const { clock = localClock(given.now), dueWork = createDueWork(given.store) } = given;
  const options = { ...given, clock, dueWork };
  const { onDefect, retry, pollMs = defaultPollMs } = options;
  const closeDue = createCloser({ ...options, random: retry.random });
  const busy = new Map<string, Promise<void>>();
  /** The number of busy webhooks by site. */
  const busyOf = new Map<string, number>();

  async function startPushes(signal: AbortSignal): Promise<void> {
    const time = await clock.read();
    if (time.isOff) return;
    // Closed periods are pushed even if the next period cannot be closed.
    await closeDue().catch((error: unknown) => onDefect(error, { outbound: "closing" }));
    for (const key of await dueWork.dueWebhooks(time.now)) {
      const name = `${key.siteId} ${key.webhookId}`;
      if (signal.aborted || busy.size >= maxConcurrent) return;
      if (busy.has(name) || (busyOf.get(key.siteId) ?? 0) >= maxConcurrentOfSite) continue;
      countBusy(key.siteId, 1);
      const draining = drain(key, signal)
        .catch((error: unknown) => onDefect(error, { webhook: key.webhookId }))
        .finally(() => {
          busy.delete(name);
          countBusy(key.siteId, -1);
        });
      busy.set(name, draining);
    }
  }

  function countBusy(siteId: string, by: number): void {
    const count = (busyOf.get(siteId) ?? 0) + by;
    if (count > 0) busyOf.set(siteId, count);
    else busyOf.delete(siteId);
  }

  /** Pushes one period after the other, the oldest first, until none waits or the receiver refuses one. */
  async function drain(key: WebhookKey, signal: AbortSignal): Promise<void> {
    let isAccepted = true;
    while (isAccepted && !signal.aborted) isAccepted = await pushNext(options, key);
  }

  const loop = poll({
    everyMs: pollMs,
    jitter: 0.2,
    random: retry.random,
    work: startPushes,
    onError: (error) => onDefect(error, { worker: "outbound" }),
  });
  return {
    async stop() {
      await loop.stop();
      await Promise.all(busy.values());
    },
  };
}

/** Takes a lease for one call by `take`. Null where this node may not make the call. */
async function leaseFor<Taken>(
  options: OutboundOptions & { clock: SharedClock },
  take: (lease: { owner: string; now: number; until: number }) => Promise<Taken>,
): Promise<Taken | null> {
  const { owner, attemptMs, clock } = options;
  const passedMs = startStopwatch(options);
  const { now, isOff } = await clock.read();
  if (isOff) return null;
  const taken = await take({ owner, now, until: now + attemptMs + spareMs });
  // A process that was suspended meanwhile may lose the webhook to another node before its call ends.
  return passedMs() > spareMs / 2 ? null : taken;
}

/** Returns true when the receiver accepted the oldest period that waits for it. */
async function pushNext(options: OutboundOptions & { clock: SharedClock }, key: WebhookKey): Promise<boolean> {
  const { store, owner, now, clock } = options;
  const push = await leaseFor(options, (lease) => store.pushes.claim(key, lease));
  if (!push) return false;
  const { reading, calls } = await sendMessage(push.address, messageOf(key.webhookId, push.period), {
    ...options,
    mayCallAgain: async () => (await leaseFor(options, (lease) => store.pushes.renewLease(key, lease))) === true,
  });
  // By its own clock a node that is ahead would let others wait for a retry.
  const at = clock.fromLocal(now());
  const settled = { ...key, owner, number: push.period.number, at, calls };
  if (reading.ok) return store.pushes.settle({ ...settled, ok: true });

  const { disabled, ...consequence } = afterFailure(reading, push, options.retry, at);
  const line = disabled === null ? null : disabledLine(push, disabled, at);
  const isOurs = await store.pushes.settle({ ...settled, ok: false, ...consequence, disabled: line });
  if (isOurs && disabled !== null) options.onDisabled(key, disabled);
  return false;
}

const disabledLine = ({ siteId, webhookId }: Push, reason: string, at: number) => ({
  siteId,
  actor: "relay",
  action: "webhook disabled",
  detail: { id: webhookId, reason },
  at,
});

const maxFailingMs = 5 * dayMs;
/** Longer delays that a receiver asks for are cut to this one. */
const maxAskedMs = 10 * hourMs;

type Consequence = {
  failures: number;
  failingSince: number;
  dueAt: number;
  /** The reason to disable the webhook; null to retry. */
  disabled: string | null;
};

/** A period is never dropped: it is retried, or its webhook is disabled and keeps it until a person enables it again. */
export function afterFailure(
  reading: PushReading,
  before: { failures: number; failingSince: number | null },
  retry: RetryRules,
  now: number,
): Consequence {
  const failures = before.failures + 1;
  const failingSince = before.failingSince ?? now;
  const dueAt = nextAttemptAt({ failures, askedSeconds: reading.retryAfterSeconds, maxAskedMs }, retry, now);
  // A relay that was itself off for a week has not retried often enough to give up.
  const hasFailedTooLong = now - failingSince >= maxFailingMs && failures > retry.scheduleMs.length;
  return { failures, failingSince, dueAt, disabled: whyDisabled(reading, hasFailedTooLong) };
}

function whyDisabled({ httpStatus, error }: PushReading, hasFailedTooLong: boolean): string | null {
  if (httpStatus === 410) return "the receiver answered 410 Gone";
  return hasFailedTooLong ? say("failed_for_days", { reason: error ?? "" }) : null;
}
