// Shows how far a long preparation is: on a terminal in one line that is written again, elsewhere a line for each quarter.

import type { Writable } from "node:stream";

type Output = Writable & { isTTY?: boolean };

/** Without an output, nothing is shown. */
export function createProgress(output: Output | null) {
  let shown = "";

  function write(line: string, text: string): void {
    if (line === shown) return;
    shown = line;
    // The end of a longer line before is cleared.
    output?.write(output.isTTY ? `\r${text}\u001b[K` : `${text}\n`);
  }

  return {
    show(step: string, share: number): void {
      const percent = Math.max(0, Math.min(100, Math.floor(100 * share)));
      const rounded = output?.isTTY ? percent : percent - (percent % 25);
      write(`${step} ${rounded}`, `${step} … ${rounded} %`);
    },
    end(): void {
      if (output?.isTTY && shown !== "") output.write("\n");
    },
  };
}
