// An import belongs to one process at a time. One that died on this machine is known to be gone; one elsewhere is believed
// to live until its lease has run out.

import { Refusal } from "../kernel/refusal.ts";
import type { AuditLine } from "../store/sites/audit.ts";
import type { ImportLease, ImportRow, NewImport } from "../store/sites/imports.ts";
import type { Store } from "../store/store.ts";
import type { Tally } from "./tally.ts";

const leaseMs = 30_000;

export type Process = {
  /** Of this machine. */
  host: string;
  pid: number;
  /** Tells two runs of one process id apart. */
  run: string;
  isAlive: (pid: number) => boolean;
};

export type Turn = {
  /** Where an earlier run came to. */
  row: ImportRow;
  save(line: number, tally: Tally): Promise<void>;
  end(state: "stopped" | "done", line: number, tally: Tally, audit: AuditLine | null): Promise<void>;
};

/** The turn, or the row of an import that is done. */
export async function takeTurn(
  store: Pick<Store, "imports">,
  made: NewImport,
  process: Process,
  now: () => number,
  audit: AuditLine,
): Promise<Turn | { done: ImportRow }> {
  const owner = `${process.host}/${process.pid}/${process.run}`;
  const holder = (): ImportLease => ({ owner, now: now(), until: now() + leaseMs });
  const seen = await store.imports.find(made);
  if (seen) refuseOther(seen, made, process, now());
  if (seen?.state === "done") return { done: seen };
  const row = await store.imports.claim(made, seen, holder(), audit);
  if (!row) throw new Refusal("file", "Another process has just begun with this import.");
  return {
    row,
    async save(line, tally) {
      if (!(await store.imports.save(made, { line, tally }, holder())))
        throw new Refusal("file", "Another process has taken this import over; this one stops.");
    },
    end: (state, line, tally, ended) =>
      store.imports.end(made, state, { line, tally }, { owner, now: now() }, ended),
  };
}

function refuseOther(seen: ImportRow, made: NewImport, process: Process, now: number): void {
  const [host, pid] = seen.owner.split("/");
  const isGone = host === process.host && !process.isAlive(Number(pid));
  if (seen.owner !== "" && seen.leaseUntil > now && !isGone) {
    const seconds = Math.ceil((seen.leaseUntil - now) / 1000);
    throw new Refusal(
      "file",
      `This import is running (process ${pid} on ${host}). If that one is gone, try again in ${seconds} seconds.`,
    );
  }
  const before = String(seen.options.deliver);
  if (before === made.options.deliver) return;
  const what =
    seen.state === "done"
      ? `This file was imported with --deliver ${before}, and what is stored is not sent again.`
      : `This import was begun with --deliver ${before}; go on with the same.`;
  throw new Refusal("deliver", what);
}
