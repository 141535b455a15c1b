// Applies a configuration file. One process at a time does it for the whole installation: nodes that start together with the
// same file would otherwise add everything twice. Each change is a transaction of its own; a run that was interrupted is
// finished by the next one.

import { setTimeout as sleep } from "node:timers/promises";
import { createLease, type Lease } from "../background/lease.ts";
import { Denied } from "../kernel/refusal.ts";
import { diffText } from "./diff.ts";
import { planFile, type FileText } from "./plan.ts";
import type { ConfigurationContext, Plan } from "./planning.ts";

const leaseMs = 30_000;
const pollMs = 200;
/** Longer than the lease of a process that died. */
const maxWaitMs = 2 * leaseMs;

type ApplyOptions = {
  prune: boolean;
  /** This process. */
  owner: string;
  now: () => number;
  elapsed: () => number;
  /** Shows the plan before anything is changed; throws if it must not be carried out. */
  confirm(plan: Plan): Promise<void>;
};

export type Applied = {
  plan: Plan;
  /** The notes of the plan, and texts that are shown only this once, such as links of invitations. */
  notes: string[];
};

export async function applyFile(context: ConfigurationContext, file: FileText, options: ApplyOptions): Promise<Applied> {
  const confirmed = await planFile(context, file, options);
  await options.confirm(confirmed);
  if (confirmed.changes.length === 0) return { plan: confirmed, notes: confirmed.notes };
  const { leases } = context.store;
  // The lease ends by itself where it cannot be released.
  const lease = createLease({ ...options, leases, name: "configuration", lengthMs: leaseMs, onError: () => {} });
  await waitFor(lease, options.elapsed);
  try {
    // Another process may have applied the same file while this one waited.
    const plan = await planFile(context, file, options);
    // Counts change with the traffic: only what is lost is compared.
    const losses = ({ changes }: Plan) =>
      diffText({ changes: changes.filter(({ loss }) => loss).map((one) => ({ ...one, loss: null })) });
    if (losses(plan) !== losses(confirmed))
      throw conflict("The configuration was changed meanwhile. Nothing was changed; run it again.");
    return { plan, notes: [...plan.notes, ...(await runChanges(plan, lease))] };
  } finally {
    await lease.release();
  }
}

const conflict = (message: string) => new Denied("conflict", message, undefined, "file");

async function waitFor(lease: Lease, elapsed: () => number): Promise<void> {
  const until = elapsed() + maxWaitMs;
  while (!(await lease.hold())) {
    if (elapsed() > until) throw conflict("Another process is applying a configuration file. Try again in a minute.");
    await sleep(pollMs);
  }
}

async function runChanges({ changes }: Plan, lease: Lease): Promise<string[]> {
  const notes: string[] = [];
  for (const change of changes) {
    if (!(await lease.hold()))
      throw conflict("Another process took over the configuration; the changes so far stay. Run it again.");
    await change.run((note) => notes.push(note));
  }
  return notes;
}
