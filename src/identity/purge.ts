// Forgetting in the background: visits and click ids older than the site's retention, bots' visits, what webhooks were
// told, the texts of the sync log, and alerts and lock-outs that are over.

import { lockoutRule } from "../store/keyUse.ts";
import type { Store } from "../store/store.ts";

const everyMs = 10 * 60_000;
/** Small steps with pauses: a purge of a million records must not be felt. */
const step = 200;
const pauseMs = 50;
const keepBotsMs = 14 * 86_400_000;
const keepPushesMs = 90 * 86_400_000;
const keepAlertsMs = 90 * 86_400_000;

export function startPurge(
  store: Pick<Store, "people" | "keyUse" | "traffic" | "signIns" | "pushes" | "syncLog" | "alerts">,
  sites: () => Iterable<{ id: string; settings: { keepMs: number; keepLogMs: number } }>,
  now: () => number,
  onDefect: (error: unknown) => void,
): () => Promise<void> {
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let purging: Promise<void> = Promise.resolve();

  async function inSteps(remove: () => Promise<number>): Promise<void> {
    for (let removed = 1; removed > 0 && !stopped;) {
      removed = await remove();
      if (removed > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }

  async function purge(): Promise<void> {
    // Hosts that no site owns count under the empty site.
    await store.keyUse.purge("", now(), lockoutRule);
    for (const site of sites()) {
      if (stopped) return;
      await store.keyUse.purge(site.id, now(), lockoutRule);
      await store.signIns.purge(site.id, now());
      await store.traffic.purge(site.id, now() - keepBotsMs, now());
      await store.pushes.purge(site.id, now() - keepPushesMs);
      await store.alerts.purge(site.id, now() - keepAlertsMs);
      await inSteps(() => store.people.purge(site.id, now() - site.settings.keepMs, step));
      await inSteps(() => store.syncLog.purge(site.id, now() - site.settings.keepLogMs, step));
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
