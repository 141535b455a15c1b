// Loads the code of a page. A relay that cannot be reached may be back in a moment, so the page waits for it. Code that cannot be
// loaded then belongs to an earlier version, or the browser remembers that a part of it failed: both end with a reload, which is
// tried once.

const retryMs = 2_000;
const pause = () => new Promise((resolve) => setTimeout(resolve, retryMs));

class UpgradedError extends Error {}
export const isUpgraded = (error: unknown): boolean => error instanceof UpgradedError;

/** Asks for the page itself: it is as near as the code, and needs no sign-in. */
const isReachable = () =>
  fetch("/dashboard/icon.svg", { method: "HEAD", cache: "no-store" }).then(
    ({ ok }) => ok,
    () => false,
  );

const reloadedAt = "cleancast-reloaded";
const reloadEveryMs = 30_000;

function mayReload(): boolean {
  const now = Date.now();
  const isFirst = now - Number(sessionStorage.getItem(reloadedAt)) > reloadEveryMs;
  if (isFirst) sessionStorage.setItem(reloadedAt, String(now));
  return isFirst;
}

export const loadPage =
  <T>(load: () => Promise<T>) =>
  async (): Promise<T> => {
    for (;;) {
      try {
        return await load();
      } catch (error) {
        const wasReached = await isReachable();
        if (!wasReached) await pause();
        // It may have come back between the two requests.
        else
          return load().catch(() => {
            if (!mayReload()) throw new UpgradedError(String(error), { cause: error });
            location.reload();
            return new Promise<never>(() => {});
          });
      }
    }
  };
