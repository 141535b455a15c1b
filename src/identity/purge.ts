// Forgetting in the background: visits and click ids older than the site's retention, bots' visits, and lock-outs that
// are over.

import { lockoutRule } from "../store/keyUse.ts";
import type { Store } from "../store/store.ts";

const everyMs = 10 * 60_000;
/** Small steps with pauses: a purge of a million records must not be felt. */
const step = 200;
const pauseMs = 50;
const keepBotsMs = 14 * 86_400_000;

export function startPurge(
  store: Pick<Store, "people" | "keyUse" | "traffic" | "signIns">,
  sites: () => Iterable<{ id: string; settings: { keepMs: number } }>,
  now: () => number,
  onDefect: (error: unknown) => void,
): () => Promise<void> {
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let purging: Promise<void> = Promise.resolve();

  async function purge(): Promise<void> {
    // Hosts that no site owns count under the empty site.
    await store.keyUse.purge("", now(), lockoutRule);
    for (const site of sites()) {
      await store.keyUse.purge(site.id, now(), lockoutRule);
      await store.signIns.purge(site.id, now());
      await store.traffic.purge(site.id, now() - keepBotsMs, now());
      for (let removed = 1; removed > 0 && !stopped;) {
        removed = await store.people.purge(site.id, now() - site.settings.keepMs, step);
        if (removed > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
      }
    }
  }

  function run(): void {
    purging = purge()
      .catch(onDefect)
      .finally(() => {
        if (!stopped) timer = setTimeout(run, everyMs);
      });
  }

  timer = setTimeout(run, 1000);
  return async () => {
    stopped = true;
    clearTimeout(timer);
    await purging;
  };
}
