// Does the steps of running reconciliations. One node at a time does this for all sites, or where looks are shared, for the sites that it
// looks at; the store keeps the progress, so any node can go on.

import { createLease } from "../background/lease.ts";
import { poll } from "../background/poll.ts";
import type { Looks } from "../delivery/looks.ts";
import type { Directory } from "../sites/directory.ts";
import type { Run } from "../store/reconciliation/runs.ts";
import type { Store } from "../store/store.ts";
import { createPace, pauseFor, watchStep, type PaceOptions } from "./pace.ts";
import { readListed } from "./readListed.ts";
import { stepRun } from "./step.ts";

type RunWorkerOptions = {
  store: Pick<Store, "engine" | "leases" | "orders" | "orderCandidates" | "reconciliations">;
  directory: Pick<Directory, "site">;
  looks?: Pick<Looks, "listed" | "isShared">;
  /** This node. */
  owner: string;
  now: () => number;
  /** Milliseconds on a monotonic clock. */
  elapsed: () => number;
  onDefect: (error: unknown, about: Record<string, unknown>) => void;
  onEnded?: (run: Run) => void;
};

const pollMs = { sqlite: 1000, postgres: 5000 };
const leaseMs = 10_000;
/** Runs of several sites take turns of this length. */
const sliceMs = 1000;

/** The embedded store works on this thread; PostgreSQL elsewhere, so its steps can be longer. A step lets others in several times. */
const paces: Record<Store["engine"], PaceOptions> = {
  sqlite: { stepMs: 8, maxRows: 512 },
  postgres: { stepMs: 40, maxRows: 512 },
};

export function startReconciliations(options: RunWorkerOptions): { stop(): Promise<void> } {
  const { store, looks, owner, now, elapsed, onDefect } = options;
  const onError = (error: unknown) => onDefect(error, { worker: "reconciliations" });
  const lease = createLease({
    leases: store.leases,
    name: "reconciliations",
    owner,
    lengthMs: leaseMs,
    now,
    elapsed,
    onError,
  });
  // The embedded store has one node, which need not wait for the lease of a process that died. Where looks are shared, a run is listed
  // on one node.
  const isAlone = store.engine === "sqlite" || looks?.isShared === true;
  const mayGoOn = async (signal: AbortSignal) => !signal.aborted && (isAlone || (await lease.hold()));
  const worker = createRunWorker(options);
  const readRunning = async (keys: readonly { siteId: string; id: string }[]): Promise<Run[]> => {
    const runs = await readListed(
      keys,
      (key) => store.reconciliations.find(key),
      (error, sites) => onDefect(error, { worker: "reconciliations", sites }),
    );
    return runs.filter(({ state }) => state === "running");
  };
  async function listRunning(): Promise<Run[]> {
    const listed = looks?.listed("reconciliation", now());
    return listed ? readRunning(listed) : store.reconciliations.listRunning();
  }

  const loop = poll({
    everyMs: pollMs[store.engine],
    jitter: 0.2,
    onError,
    async work(signal) {
      if (!(await mayGoOn(signal))) return;
      for (let runs = await listRunning(); runs.length;) {
        const left: Run[] = [];
        for (const run of runs) {
          if (!(await mayGoOn(signal))) return;
          if (await worker.workOn(run, () => mayGoOn(signal))) left.push(run);
        }
        // One that failed, or that another process works on, waits for the next poll.
        runs = await readRunning(left);
      }
    },
  });
  return {
    async stop() {
      await loop.stop();
      if (!isAlone) await lease.release();
    },
  };
}

export function createRunWorker({ store, directory, now, elapsed, onDefect, onEnded = () => {} }: RunWorkerOptions) {
  const pace = createPace(paces[store.engine]);

  /** Does steps of one run for a while. True when it has to go on at once. */
  async function workOn(run: Run, mayGoOn: () => Promise<boolean>): Promise<boolean> {
    const site = directory.site(run.siteId);
    // The rows of a deleted site are purged elsewhere.
    if (!site || site.leaving) return false;
    try {
      if (!run.isReadable) {
        await store.reconciliations.cancel(run, now());
        onDefect(new Error("a reconciliation was cancelled: its row is damaged"), { reconciliation: run.id });
        return false;
      }
      return await takeTurn(run, site.settings.timeZone, mayGoOn);
    } catch (error) {
      onDefect(error, { worker: "reconciliations", reconciliation: run.id });
      return false;
    }
  }

  async function takeTurn(first: Run, timeZone: string, mayGoOn: () => Promise<boolean>): Promise<boolean> {
    const startedAt = elapsed();
    for (let run = first; elapsed() - startedAt < sliceMs && (await mayGoOn());) {
      const { letOthersIn, workedMs } = watchStep();
      const next = await stepRun({ store, timeZone, limit: pace.rows(), now: now(), letOthersIn }, run);
      if (!next) return false;
      run = next;
      if (run.state !== "running") {
        onEnded(run);
        return false;
      }
      const pauseMs = pace.afterStep(workedMs());
      pace.afterPause(await pauseFor(pauseMs));
    }
    return true;
  }

  return { workOn };
}
