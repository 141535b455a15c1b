// The passes of a move before writes are stopped.

import type { Copy } from "../../store/copy/copy.ts";

/** After a pass as short as this, little is left for the last one. */
const shortPassMs = 2000;
const maxPasses = 6;
/** The interval at which a long pass reports its progress. */
const reportMs = 5000;

/** Makes passes while rows are written here, until one of them is short. Returns the rows of the last, and the number of passes. */
export async function copyUntilShort(copy: Copy, report: (text: string) => void): Promise<{ total: number; passes: number }> {
  for (let n = 1; ; n += 1) {
    const startedAt = performance.now();
    let reportedAt = startedAt;
    const { copied, total } = await copy.pass({
      onPage(seen, table) {
        if (performance.now() - reportedAt < reportMs) return;
        reportedAt = performance.now();
        report(`Pass ${n}: ${seen} rows so far, now ${table}.`);
      },
    });
    const ms = performance.now() - startedAt;
    report(`Pass ${n}: ${copied} of ${total} rows copied in ${(ms / 1000).toFixed(1)} s.`);
    if ((n > 1 && ms < shortPassMs) || copied === 0 || n === maxPasses) return { total, passes: n };
  }
}
