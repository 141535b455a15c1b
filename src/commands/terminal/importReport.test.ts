import { describe, expect, test } from "vitest";
import type { Progress } from "../../import/run.ts";
import type { Source } from "../../tables/source.ts";
import { newImportTally } from "../../kernel/imports.ts";
import { createProgress } from "./importReport.ts";
import { duration } from "./progress.ts";

const source = { name: "orders.csv", bytes: 1000, rows: 100 } as Source;

function screen(isTTY: boolean) {
  const written: string[] = [];
  return { written, isTTY, columns: 100, write: (text: string) => written.push(text) };
}

const at = (rows: number, waitingFor: string | null = null): Progress => ({
  tally: { ...newImportTally(), rows, imported: rows - 1, duplicates: 1 },
  line: rows + 1,
  bytes: rows * 10,
  waitingFor,
});

describe("progress", () => {
  function record(isTTY: boolean, json: boolean): string[] {
    const out = screen(isTTY);
    let ms = 1000;
    const progress = createProgress(source, { json, dryRun: false, out, clock: () => ms });
    progress.start(0);
    for (const rows of [10, 20, 30, 40]) {
      ms += 2000;
      progress.show(at(rows, rows === 40 ? "meta" : null));
    }
    progress.end();
    return out.written;
  }

  test("on a terminal, progress is one line with a bar, which is redrawn", () => {
    const [first, ...drawn] = record(true, false);
    expect(first).toBe("Importing orders.csv\n");
    expect(drawn).toHaveLength(5);
    expect(drawn[2]).toBe("\r███████░░░░░░░░░░░░░░░░░  30 %  30 rows  3/s  21 s left  1 duplicates\u001b[K");
    expect(drawn[3]).toContain("waiting for meta");
    expect(drawn[3]?.length).toBeLessThanOrEqual(100 + 3);
    expect(drawn[4]).toBe("\r\u001b[K");
  });

  test("without a terminal, progress is a line every few seconds", () => {
    expect(record(false, false)).toEqual([
      "Importing orders.csv\n",
      "20 %  20 rows  3/s  32 s left  1 duplicates\n",
      expect.stringMatching(/^40 % .* waiting for meta: its queue is full/),
    ]);
  });

  test("with --json, progress is a line of JSON", () => {
    const [first] = record(false, true).map((line) => JSON.parse(line));
    expect(first.progress).toEqual({
      percent: 20,
      rows: 20,
      rate: 3,
      secondsLeft: 32,
      imported: 19,
      duplicates: 1,
      refused: 0,
      waitingFor: null,
    });
  });

  test("durations are rounded to seconds, minutes or hours", () => {
    expect([5, 89, 100, 3600, 9000].map(duration)).toEqual(["5 s", "89 s", "2 min", "60 min", "2.5 h"]);
  });
});
