// Checks hosts in the background: soon and often after they were added, and once a day when they work. Every node finds due
// hosts in its own memory; the host's row decides which node makes a check.

import { poll } from "../background/poll.ts";
import { forEachConcurrently } from "../kernel/concurrency.ts";
import { dayMs, hourMs, minuteMs } from "../kernel/time.ts";
import type { Host } from "../sites/directory.ts";
import { isPublicName } from "../sites/hosts.ts";
import type { SiteContext } from "../sites/manage.ts";
import type { Checker } from "./check.ts";
import { verifyHost } from "./verify.ts";

type HostMonitorOptions = SiteContext & {
  checker: Checker;
  now: () => number;
  onDefect: (error: unknown, about: Record<string, unknown>) => void;
};

const everyMs = minuteMs;
/** A little more than the longest interval between two checks of a host. */
const maxIntervalMs = dayMs + hourMs;
/** Longer than a check can take. */
const claimMs = 5 * minuteMs;
/** Fewer than the limit for all checks, so that a slot stays free for the checks that people wait for. */
const maxConcurrent = 2;
/** Thousands of hosts that do not lead here must not keep a relay busy. The others are checked by the next runs. */
const maxChecksPerRun = 100;

export function startHostMonitor(options: HostMonitorOptions): { stop(): Promise<void> } {
  return poll({
    everyMs,
    // Nodes that were started together need not check together.
    firstMs: everyMs * (0.5 + Math.random() / 2),
    work: (signal) => checkDueHosts(options, signal),
    onError: (error) => options.onDefect(error, { hosts: "check" }),
  });
}

export async function checkDueHosts(options: HostMonitorOptions, signal?: AbortSignal): Promise<void> {
  const { store, directory, checker, now, onDefect } = options;

  // A check that is due later than after the longest interval was planned by a clock that ran ahead.
  const isDue = ({ host, pausedAt, nextCheckAt }: Host) =>
    pausedAt === null && (nextCheckAt <= now() || nextCheckAt > now() + maxIntervalMs) && isPublicName(host);

  async function check(host: Host): Promise<void> {
    if (signal?.aborted) return;
    try {
      if (!(await store.hosts.claimCheck(host, now() + claimMs))) return;
      await checker.limit.run(host, () => verifyHost(options, host, { actor: "relay", now: now() }, now));
    } catch (error) {
      if (!signal?.aborted) onDefect(error, { host: host.host });
    }
  }

  const due = [...directory.sites()].flatMap(({ hostRows, leaving }) => (leaving ? [] : hostRows.filter(isDue)));
  const first = due.toSorted((one, other) => rankOf(one) - rankOf(other)).slice(0, maxChecksPerRun);
  await forEachConcurrently(first, maxConcurrent, check);
}

/** New hosts come first, the newest before all, because a person waits for it. Then those that are due longest. */
const rankOf = ({ checkedAt, addedAt, nextCheckAt }: Host) => (checkedAt === null ? -addedAt : nextCheckAt);
