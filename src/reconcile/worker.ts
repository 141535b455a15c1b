// Does the steps of running reconciliations. One node at a time does this for all sites, or where due work is shared, for the sites that it
// looks at; the store keeps the progress, so any node can go on.

import { createLeaderJob, type JobNode, type LeaderJob } from "../background/leaderJob.ts";
import type { DueWork } from "../delivery/due/dueWork.ts";
import type { Directory } from "../sites/directory.ts";
import type { Run } from "../store/reconciliation/runs.ts";
import type { Store } from "../store/store.ts";
import { createPace, pauseFor, watchStep, type PaceOptions } from "./pace.ts";
import { readListed } from "./readListed.ts";
import { stepRun } from "./step.ts";

type StepOptions = Pick<JobNode, "now" | "onDefect"> & {
  store: Pick<Store, "engine" | "orders" | "orderCandidates" | "reconciliations">;
  directory: Pick<Directory, "site">;
  onEnded?: (run: Run) => void;
};

type ReconciliationOptions = JobNode &
  StepOptions & {
    store: Pick<Store, "leases">;
    dueWork?: Pick<DueWork, "listed" | "isShared">;
  };

const pollMs = { sqlite: 1000, postgres: 5000 };

/** The embedded store works on this thread; PostgreSQL elsewhere, so its steps can be longer. A step lets others in several times. */
const paces: Record<Store["engine"], PaceOptions> = {
  sqlite: { stepMs: 8, maxRows: 512 },
  postgres: { stepMs: 40, maxRows: 512 },
};

export function createReconciliationJob(options: ReconciliationOptions): LeaderJob {
  const { store, dueWork, now, onDefect } = options;
  const step = createStep(options);

  async function listRunning(): Promise<Run[]> {
    const listed = dueWork?.listed("reconciliation", now());
    if (!listed) return store.reconciliations.listRunning();
    const runs = await readListed(
      listed,
      (key) => store.reconciliations.find(key),
      (error, sites) => onDefect(error, { worker: "reconciliations", sites }),
    );
    return runs.filter(({ state }) => state === "running");
  }

  return createLeaderJob({
    everyMs: pollMs[store.engine],
    firstMs: 0,
    ...options,
    name: "reconciliations",
    leases: store.leases,
    leaseMs: 10_000,
    // Where due work is shared, a run is listed on one node.
    isDivided: dueWork?.isShared,
    async work({ mayContinue }) {
      const runs = await listRunning();
      // The runs of several sites take turns. One that failed, or that another process works on, waits for the next poll.
      for (let run = runs.shift(); run && (await mayContinue()); run = runs.shift()) {
        const next = await step(run);
        if (next?.state === "running") runs.push(next);
      }
    },
  });
}

/** Returns a function that does the next step of a run. It resolves to null where that failed or another process did it. */
export function createStep({ store, directory, now, onDefect, onEnded = () => {} }: StepOptions) {
  const pace = createPace(paces[store.engine]);

  return async (run: Run): Promise<Run | null> => {
    const site = directory.site(run.siteId);
    // The rows of a deleted site are purged elsewhere.
    if (!site || site.leaving) return null;
    try {
      if (!run.isReadable) {
        await store.reconciliations.cancel(run, now());
        throw new Error("a reconciliation was cancelled: its row is damaged");
      }
      const { timeZone } = site.settings;
      const { letOthersIn, workedMs } = watchStep();
      const next = await stepRun({ store, timeZone, limit: pace.rows(), now: now(), letOthersIn }, run);
      if (next?.state === "running") pace.afterPause(await pauseFor(pace.afterStep(workedMs())));
      else if (next) onEnded(next);
      return next;
    } catch (error) {
      onDefect(error, { worker: "reconciliations", reconciliation: run.id });
      return null;
    }
  };
}
