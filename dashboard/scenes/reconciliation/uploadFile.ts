// Sends a list of orders to the relay, in parts.

import { upload, type Answer } from "../../common/api/api.ts";
import { partsOf, readFile } from "../../common/files.ts";

export type Uploaded = Answer<"POST /sites/:site/orders/upload">;

/** Returns the sum of all parts. */
export async function uploadFile(site: string, file: File, onProgress: (share: number) => void): Promise<Uploaded> {
  const parts = partsOf((await readFile(file)).text);
  const sum: Uploaded = { rows: 0, written: 0, refused: 0, reasons: {} };
  for (const [i, { text, skippedLines }] of parts.entries()) {
    const answer = await upload("POST /sites/:site/orders/upload", { params: { site } }, text);
    sum.rows += answer.rows;
    sum.written += answer.written;
    sum.refused += answer.refused;
    for (const [reason, { count, lines }] of Object.entries(answer.reasons)) {
      const known = (sum.reasons[reason] ??= {
        count: 0,
        lines: lines.map((line) => line + skippedLines),
      });
      known.count += count;
    }
    onProgress((i + 1) / parts.length);
  }
  return sum;
}
