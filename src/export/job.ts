// Writes the files of scheduled exports when an hour is complete, on one node at a time: the node holds a lease, and starts
// `cleancast export due`. That command holds a lease of its own: it may outlive a relay that was killed.

import { createLeaderJob, type JobNode, type LeaderJob, type Leadership } from "../background/leaderJob.ts";
import { runWhileLeading, type RunCommand } from "../background/ownProcess.ts";
import { dayMs, minuteMs, secondMs } from "../kernel/time.ts";
import type { Store } from "../store/store.ts";

type ExportJobOptions = JobNode & {
  store: Pick<Store, "leases" | "dataExports">;
  runExport: RunCommand;
};

/** A long past takes hours. */
const maxRunMs = dayMs;

export function createExportJob(options: ExportJobOptions): LeaderJob {
  const { store, runExport, now, onDefect } = options;

  async function check(leadership: Leadership): Promise<void> {
    const isDue = async () => (await store.dataExports.listDue(now())).length > 0;
    // Another node may have written it while this one waited for the lease.
    if (!(await isDue()) || !(await leadership.mayContinue()) || !(await isDue())) return;
    const reason = await runWhileLeading(leadership, runExport, maxRunMs);
    // What is wrong with a site's place is stored with its export. This is about the command itself.
    if (reason !== null && !leadership.signal.aborted)
      onDefect(new Error(`the export of data failed: ${reason}`), { worker: "data exports" });
  }

  return createLeaderJob({
    everyMs: minuteMs,
    // A start has more urgent work.
    firstMs: 3 * secondMs,
    ...options,
    name: "data exports",
    leases: store.leases,
    leaseMs: minuteMs,
    work: check,
  });
}
