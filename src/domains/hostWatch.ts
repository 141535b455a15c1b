// Checks hosts in the background: soon and often after they were added, and once a day when they are well. Every node looks
// at its own memory; which one makes a check is decided at the host's row.

import type { Host } from "../sites/directory.ts";
import { isPublicName } from "../sites/hosts.ts";
import type { Desk } from "../sites/manage.ts";
import type { Checker } from "./check.ts";
import { verifyHost } from "./verify.ts";

export type HostWatchOptions = Desk & {
  checker: Checker;
  now: () => number;
  onDefect: (error: unknown, about: Record<string, unknown>) => void;
};

const everyMs = 60_000;
/** Longer than a check can take. */
const inHandMs = 5 * 60_000;
/** Fewer than may be checked at once: people who wait for a check come first. */
const atOnce = 2;

/** Starts checking; the returned function stops it. */
export function startHostWatch(options: HostWatchOptions): () => Promise<void> {
  const watch = hostWatch(options);
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  let looking: Promise<void> = Promise.resolve();

  function run(): void {
    looking = watch.look().finally(() => {
      if (!stopped) timer = setTimeout(run, everyMs);
    });
  }

  // Nodes that were started together need not look together.
  timer = setTimeout(run, everyMs * (0.5 + Math.random() / 2));
  return async () => {
    stopped = true;
    watch.stop();
    clearTimeout(timer);
    await looking;
  };
}

export function hostWatch(options: HostWatchOptions) {
  const { store, directory, now, onDefect } = options;
  let stopped = false;

  const isDue = (host: Host) =>
    host.pausedAt === null && host.nextCheckAt <= now() && isPublicName(host.host);

  async function check(host: Host): Promise<void> {
    try {
      if (!(await store.hosts.claimCheck(host, now() + inHandMs))) return;
      await options.checker.turns.take(host, () =>
        verifyHost(options, host, { actor: "relay", now: now() }, now),
      );
    } catch (error) {
      if (!stopped) onDefect(error, { host: host.host });
    }
  }

  return {
    async look(): Promise<void> {
      const due = [...directory.sites()].flatMap(({ hostRows }) => hostRows.filter(isDue));
      const left = due.values();
      const next = async () => {
        for (const host of left) {
          if (stopped) return;
          await check(host);
        }
      };
      await Promise.all(Array.from({ length: atOnce }, next));
    },
    stop: () => {
      stopped = true;
    },
  };
}
