// Corrects due times after the clock was set: when this process starts, when it sees the clock jump, a minute later for what
// could not be written before, and every hour, for the rows of a node that died with a wrong clock. A jump ahead counts, too:
// nothing is corrected by a clock that was set back too far, and differs from the database's. Without this, deliveries and
// pushes that failed while the clock ran ahead would wait for as long as it ran ahead, and statistics would lack the events of
// hours that seemed to be over.

import { poll } from "../background/poll.ts";
import { createMachineWork } from "../delivery/due/slices.ts";
import { dayMs, hourMs, minuteMs } from "../kernel/time.ts";
import type { ConnectionKey } from "../store/deliveries/delivery.ts";
import type { Store } from "../store/store.ts";

type DueTimeOptions = {
  store: Pick<Store, "deliveries" | "dueTimes" | "slices" | "health">;
  /** The delays after failed attempts of deliveries and of pushes. */
  retryScheduleMs: readonly number[];
  pushRetryMs: readonly number[];
  /** Due times of a connection were corrected. */
  onCorrected?: (connection: ConnectionKey, deliveries: number) => void;
  onDefect: (error: unknown, about: Record<string, unknown>) => void;
};

type DueTimes = {
  /** The clock was set. */
  correct: () => void;
  stop(): Promise<void>;
};

/** After an error, and after the first correction of a clock that was set. */
const againMs = minuteMs;

/** The longest delay before a retry, with its jitter. Platforms may ask for a day at most, receivers for less. */
const maxDelayMs = (scheduleMs: readonly number[]) => Math.round(1.2 * Math.max(dayMs, ...scheduleMs));

export function startDueTimes(options: DueTimeOptions): DueTimes {
  const { store, onDefect } = options;
  const maxDeliveryMs = maxDelayMs(options.retryScheduleMs);
  const maxPushMs = maxDelayMs(options.pushRetryMs);
  const onEachMachine = createMachineWork(store);

  /** How often the clock was set, and up to which time the correction is repeated. */
  let timesSet = 0;
  let repeatedFor = 0;

  async function correctAll(signal: AbortSignal): Promise<void> {
    // Only a run that begins after the clock was set is its first correction: one that is under way may have passed the rows.
    const correctedFor = timesSet;
    await store.dueTimes.correctOthers(maxPushMs);
    await store.dueTimes.correctStatistics();
    const errors = await onEachMachine(
      await store.deliveries.findDue(Number.MAX_SAFE_INTEGER),
      ({ siteId }) => siteId,
      async (connection) => {
        if (signal.aborted) return;
        const count = await store.dueTimes.correctDeliveries(connection, maxDeliveryMs, signal);
        if (count > 0) options.onCorrected?.(connection, count);
      },
    );
    // One is enough: usually all have the same cause.
    if (errors.length > 0) throw errors[0];
    if (correctedFor === repeatedFor) return;
    repeatedFor = correctedFor;
    loop.wake(againMs);
  }

  const loop = poll({
    everyMs: hourMs,
    work: correctAll,
    onError(error) {
      onDefect(error, { dueTimes: "correction" });
      loop.wake(againMs);
    },
  });
  return {
    correct() {
      timesSet += 1;
      loop.wake(0);
    },
    stop: () => loop.stop(),
  };
}
