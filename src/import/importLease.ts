// Holds the lease on an import: one process runs it at a time. A process that died on this machine loses the lease
// immediately, a process on another machine when the lease expires.

import { hostname } from "node:os";
import type { ImportTally } from "../kernel/imports.ts";
import { say } from "../kernel/messages/message.ts";
import { Conflict, Refusal } from "../kernel/refusal.ts";
import { maxSkewMs } from "../kernel/time.ts";
import type { AuditLine } from "../store/sites/audit.ts";
import type { ImportLease as LeaseRow, ImportRow, NewImport } from "../store/sites/imports.ts";
import type { Store } from "../store/store.ts";

const leaseMs = 30_000;

export type Process = {
  host: string;
  pid: number;
  /** Distinguishes two runs with the same process id. */
  run: string;
  isAlive: (pid: number) => boolean;
};

/** `run` is different for each import of this process. */
export const currentProcess = (run: string): Process => ({
  host: hostname(),
  pid: process.pid,
  run,
  isAlive(pid) {
    try {
      process.kill(pid, 0);
      return true;
    } catch (error) {
      // EPERM: it is alive, and another user owns it.
      return error instanceof Error && "code" in error && error.code === "EPERM";
    }
  },
});

type ImportLease = {
  /** The progress of an earlier run. */
  row: ImportRow;
  save(line: number, tally: ImportTally): Promise<void>;
  end(state: "stopped" | "done", line: number, tally: ImportTally, audit: AuditLine | null): Promise<void>;
};

/** Returns the stored row when the import is already done. */
export async function acquireImport(
  store: Pick<Store, "imports">,
  wanted: NewImport,
  process: Process,
  now: () => number,
  audit: AuditLine,
): Promise<ImportLease | { done: ImportRow }> {
  const owner = `${process.host}/${process.pid}/${process.run}`;
  const holder = (): LeaseRow => ({ owner, now: now(), until: now() + leaseMs });
  const stored = await store.imports.find(wanted);
  if (stored) refuseConflict(stored, wanted, process, now());
  if (stored?.state === "done") return { done: stored };
  const row = await store.imports.claim(wanted, stored, holder(), audit);
  if (!row) throw new Conflict("file", say("import_just_started"));
  return {
    row,
    async save(line, tally) {
      if (!(await store.imports.save(wanted, { line, tally }, holder()))) throw new Refusal("file", say("import_taken_over"));
    },
    end: (state, line, tally, ended) => store.imports.end(wanted, state, { line, tally }, { owner, now: now() }, ended),
  };
}

function refuseConflict(stored: ImportRow, wanted: NewImport, process: Process, now: number): void {
  const [host = "", pid = ""] = stored.owner.split("/");
  const isGone = host === process.host && !process.isAlive(Number(pid));
  // A lease that ends later than one that begins now was written by a clock that ran ahead.
  const isHeld = stored.leaseUntil > now && stored.leaseUntil <= now + leaseMs + maxSkewMs;
  if (stored.owner !== "" && isHeld && !isGone) {
    const seconds = Math.ceil((stored.leaseUntil - now) / 1000);
    throw new Conflict("file", say("import_running", { pid, host, seconds }));
  }
  if (!stored.isReadable) throw new Refusal("file", say("import_progress_unreadable"));
  const before = String(stored.options.deliver);
  if (before === wanted.options.deliver) return;
  const what = stored.state === "done" ? say("imported_with_delivery", { before }) : say("import_with_delivery", { before });
  throw new Refusal("deliver", what);
}
