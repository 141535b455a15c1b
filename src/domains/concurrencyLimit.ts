// Checks of hosts take turns. Each calls somebody else's server for seconds, and a lookup that hangs holds one of the four
// threads that everything else in the process looks names up with.

export type ConcurrencyLimit<Result> = {
  /**
   * Who asks for a host that is being checked gets that check's result. Null where too many hosts of the site are waiting
   * already: nobody's hosts shall keep those of others waiting for long.
   */
  run(of: { siteId: string; host: string }, check: () => Promise<Result>): Promise<Result> | null;
};

export function openConcurrencyLimit<Result>(atOnce: number, maxOfSite: number): ConcurrencyLimit<Result> {
  const asked = new Map<string, { siteId: string; result: Promise<Result> }>();
  const waiting: (() => void)[] = [];
  let free = atOnce;

  function begin(): Promise<void> {
    if (free === 0) return new Promise((start) => waiting.push(start));
    free -= 1;
    return Promise.resolve();
  }

  function end(): void {
    const next = waiting.shift();
    if (next) next();
    else free += 1;
  }

  return {
    run({ siteId, host }, check) {
      const key = `${siteId} ${host}`;
      const known = asked.get(key);
      if (known) return known.result;
      if ([...asked.values()].filter((one) => one.siteId === siteId).length >= maxOfSite) return null;
      const result = begin()
        .then(check)
        .finally(() => {
          asked.delete(key);
          end();
        });
      asked.set(key, { siteId, result });
      return result;
    },
  };
}
