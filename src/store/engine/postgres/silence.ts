// Notices a server that no longer answers, long before the limits of its statements. It is suspected when a statement has run for a
// while and none of its statements has ended since. It is then asked, and is silent if it does not answer.

export type SilenceWatch = {
  /** Notes a statement. Returns what to call when it has ended. */
  enter(): (hasAnswered: boolean) => void;
  isSilent(): boolean;
  close(): void;
};

type WatchOptions = {
  /** Whether the server answers at all; null where that cannot be known now. */
  answers: () => Promise<boolean | null>;
  /** Called at each question that is not answered: running statements are to fail now, and not one by one after their limits. */
  onSilent: () => void;
  /** Milliseconds on a monotonic clock. */
  elapsed: () => number;
  random: () => number;
};

const suspectAfterMs = 800;
const askEveryMs = 1000;

export function watchSilence({ answers, onSilent, elapsed, random }: WatchOptions): SilenceWatch {
  /** When the statements under way have begun, the oldest first. */
  const running = new Map<symbol, number>();
  let answeredAt = -Infinity;
  let isSilent = false;
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;

  function watch(ms: number): void {
    if (isClosed || timer) return;
    timer = setTimeout(() => void check(), ms).unref();
  }

  async function check(): Promise<void> {
    const [oldest] = running.values();
    const isSuspect = oldest !== undefined && elapsed() - Math.max(oldest, answeredAt) >= suspectAfterMs;
    if (isSilent || isSuspect) {
      isSilent = (await answers()) === false;
      if (!isSilent) answeredAt = elapsed();
    }
    timer = undefined;
    if (isClosed) return;
    if (isSilent) onSilent();
    // With jitter, so that nodes do not return to the server in step.
    if (isSilent) return watch(askEveryMs * (0.5 + random() / 2));
    const [left] = running.values();
    if (left !== undefined) watch(Math.max(1, suspectAfterMs - (elapsed() - Math.max(left, answeredAt))));
  }

  return {
    enter() {
      const key = Symbol();
      running.set(key, elapsed());
      watch(suspectAfterMs);
      return (hasAnswered) => {
        running.delete(key);
        if (hasAnswered) answeredAt = elapsed();
      };
    },
    isSilent: () => isSilent,
    close() {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}
