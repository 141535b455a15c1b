// Forgetting in the background: identity records and visitors that nobody has added to for the site's retention.

import type { Store } from "../store/store.ts";

const everyMs = 10 * 60_000;
/** Small steps with pauses: a purge of a million records must not be felt. */
const step = 200;
const pauseMs = 50;

export function startPurge(
  store: Pick<Store, "people">,
  sites: () => Iterable<{ id: string; settings: { keepMs: number } }>,
  now: () => number,
  onDefect: (error: unknown) => void,
): () => Promise<void> {
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let purging: Promise<void> = Promise.resolve();

  async function purge(): Promise<void> {
    for (const site of sites()) {
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
