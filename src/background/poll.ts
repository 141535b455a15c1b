// Runs work periodically: one run at a time, with a pause between the end of one run and the start of the next.

export type PollOptions = {
  /** The pause between two runs. */
  everyMs: number;
  /** The delay before the first run; none by default. */
  firstMs?: number;
  /** Share by which a pause may differ from `everyMs`: 0.2 means ±20 %. Spreads nodes that were started together. */
  jitter?: number;
  /** 0…1 */
  random?: () => number;
  /** `stop` aborts the signal, so that long work can end between two of its steps. */
  work: (signal: AbortSignal) => Promise<unknown>;
  onError: (error: unknown) => void;
};

/** How often background work looks for something to do, unless its options say otherwise: tests do not wait for a second. */
export const defaultPollMs = 1000;

export type Poll = {
  /**
   * Starts the next run in `ms`, or `ms` after the end of the run under way. Further calls before that run change nothing, unless
   * they are for a shorter time.
   */
  wake(ms: number): void;
  /** Starts no further run, and resolves when the run under way has ended. */
  stop(): Promise<void>;
};

export function poll(options: PollOptions): Poll {
  const { everyMs, firstMs = 0, jitter = 0, random = Math.random, work, onError } = options;
  const stopping = new AbortController();
  const { signal } = stopping;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | null = null;
  let wakeMs: number | null = null;

  function schedule(ms: number): void {
    clearTimeout(timer);
    if (!signal.aborted) timer = setTimeout(start, ms);
  }

  function start(): void {
    wakeMs = null;
    running = run().finally(() => {
      running = null;
      schedule(wakeMs ?? everyMs * (1 + jitter * (2 * random() - 1)));
    });
  }

  async function run(): Promise<void> {
    try {
      await work(signal);
    } catch (error) {
      onError(error);
    }
  }

  schedule(firstMs);
  return {
    wake(ms) {
      if (wakeMs !== null && wakeMs <= ms) return;
      wakeMs = ms;
      if (!running) schedule(ms);
    },
    async stop() {
      stopping.abort();
      clearTimeout(timer);
      await running;
    },
  };
}
