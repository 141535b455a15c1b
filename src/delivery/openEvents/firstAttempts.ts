// Settles the first attempts of one event. Those that end at the same moment are committed together, as one row of outcomes.
//
// Invariant: rows are written one after the other, and the number of each is how many first attempts were settled before. The
// store refuses a number that another node has used, which means that the event was taken over: then nothing more is written. A
// row whose commit failed is written again as it was, before any other, because it may have been committed after all.

import type { NewDelivery, Settlement } from "../../store/deliveries/delivery.ts";
import type { FirstSettlement } from "../../store/deliveries/outcomes.ts";
import type { Store } from "../../store/store.ts";

export type FirstAttempts = {
  /** `settings` identifies the settings that the request was made with. Resolves when the row is committed, or has failed. */
  settle(settlement: Settlement, settings: string): Promise<void>;
  hasFailed(): boolean;
  /** Writes what failed and what waits. */
  write(): Promise<void>;
  /** Writes again what was written, for a server that may lack it. */
  rewrite(): Promise<void>;
};

type Options = {
  siteId: string;
  eventId: string;
  /** In the order of the event's plan. Those that are queued have a first attempt. */
  deliveries: readonly NewDelivery[];
  settle: Store["deliveries"]["settleFirst"];
  /** All first attempts are settled, or another node has taken the event over. */
  onEnd: () => void;
  onDefect: (error: unknown, about: Record<string, unknown>) => void;
};

/** Settlements of one event wait this long for each other, so that one commit makes them all durable. */
const batchWindowMs = 2;

export function createFirstAttempts({ siteId, eventId, deliveries, settle, onEnd, onDefect }: Options): FirstAttempts {
  const total = deliveries.reduce((sum, { state }) => (state === "queued" ? sum + 1 : sum), 0);
  const arrived = new Set<number>();
  const waiting: FirstSettlement[] = [];
  let failed: FirstSettlement[] | null = null;
  const written: { number: number; settlements: FirstSettlement[] }[] = [];
  let settled = 0;
  let isTakenOver = false;
  let timer: NodeJS.Timeout | undefined;
  let batch: PromiseWithResolvers<void> | null = null;
  let writing: Promise<void> = Promise.resolve();

  function write(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    const done = batch;
    batch = null;
    writing = writing.then(async () => {
      if (failed) await writeRow(failed);
      if (!failed && waiting.length) await writeRow(waiting.splice(0));
      done?.resolve();
    });
    return writing;
  }

  async function writeRow(settlements: FirstSettlement[]): Promise<void> {
    if (isTakenOver) return;
    try {
      isTakenOver = !(await settle({ siteId, eventId, number: settled, settlements }));
      failed = null;
      written.push({ number: settled, settlements });
      settled += settlements.length;
      if (isTakenOver || settled === total) onEnd();
    } catch (error) {
      // If the process ends before the next try, they are attempted again.
      onDefect(error, { event: eventId });
      failed = settlements;
    }
  }

  return {
    settle(settlement, settings) {
      const position = deliveries.findIndex((one) => one.connectionId === settlement.connectionId);
      // A job whose lease ran out was settled then; what follows of its batch does not count.
      if (arrived.has(position)) return writing;
      arrived.add(position);
      waiting.push({ ...settlement, position, platform: deliveries[position]?.platform ?? "", settings });
      batch ??= Promise.withResolvers<void>();
      const { promise } = batch;
      if (arrived.size === total) void write();
      else timer ??= setTimeout(() => void write(), batchWindowMs);
      return promise;
    },
    hasFailed: () => failed !== null,
    write,
    rewrite() {
      const rewriting = writing.then(async () => {
        for (const row of written) if (!isTakenOver) isTakenOver = !(await settle({ siteId, eventId, ...row }));
        if (isTakenOver) onEnd();
      });
      writing = rewriting.catch(() => {});
      return rewriting;
    },
  };
}
