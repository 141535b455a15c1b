// Limits how many checks of hosts run at the same time: a check calls another server for seconds.

export type ConcurrencyLimit<Result> = {
  /**
   * Runs a check when a slot is free. Callers that ask for a host under check share its result. Null where too many checks
   * of the site are pending already, so that one site cannot delay the others for long.
   */
  run(of: { siteId: string; host: string }, check: () => Promise<Result>): Promise<Result> | null;
};

export function createConcurrencyLimit<Result>(maxConcurrent: number, maxPerSite: number): ConcurrencyLimit<Result> {
  const pending = new Map<string, { siteId: string; result: Promise<Result> }>();
  const waiting: (() => void)[] = [];
  let free = maxConcurrent;

  function takeSlot(): Promise<void> {
    if (free === 0) return new Promise((start) => waiting.push(start));
    free -= 1;
    return Promise.resolve();
  }

  function freeSlot(): void {
    const next = waiting.shift();
    if (next) next();
    else free += 1;
  }

  return {
    run({ siteId, host }, check) {
      const key = `${siteId} ${host}`;
      const known = pending.get(key);
      if (known) return known.result;
      if ([...pending.values()].filter((one) => one.siteId === siteId).length >= maxPerSite) return null;
      const result = takeSlot()
        .then(check)
        .finally(() => {
          pending.delete(key);
          freeSlot();
        });
      pending.set(key, { siteId, result });
      return result;
    },
  };
}
