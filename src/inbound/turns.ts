// Lets one batch at a time use the thread that accepts events, in slices, so that other requests run in between. Sites take turns:
// however many batches one of them sends, another's is next.

export function createTurns() {
  /** Those who wait, by site. A site that had its turn goes to the end. */
  const waiting = new Map<string, (() => void)[]>();
  let isTaken = false;

  function next(): void {
    const [first] = waiting;
    if (!first) {
      isTaken = false;
      return;
    }
    const [siteId, starts] = first;
    const start = starts.shift();
    waiting.delete(siteId);
    if (starts.length > 0) waiting.set(siteId, starts);
    start?.();
  }

  return {
    async take<T>(siteId: string, work: () => Promise<T>): Promise<T> {
      if (isTaken)
        await new Promise<void>((resolve) => {
          const starts = waiting.get(siteId);
          if (starts) starts.push(resolve);
          else waiting.set(siteId, [resolve]);
        });
      isTaken = true;
      try {
        return await work();
      } finally {
        next();
      }
    },
  };
}
