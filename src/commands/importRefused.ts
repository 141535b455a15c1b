// The list of refused rows: line number and reason. What the rows say stays in the operator's file.

import { closeSync, existsSync, openSync, readFileSync, writeFileSync, writeSync } from "node:fs";
import type { RefusedRow } from "../import/run.ts";
import { Refusal } from "../kernel/refusal.ts";

const head = "line,reason\n";

export function openRefused(path: string | undefined) {
  let file: number | null = null;

  return {
    /** Keeps what an earlier run wrote of lines up to `resumedAfter`; what came after them comes again. */
    start(resumedAfter: number): void {
      if (path === undefined) return;
      try {
        const known = resumedAfter && existsSync(path) ? readFileSync(path, "utf8").split("\n").slice(1) : [];
        const kept = known.filter((line) => Number.parseInt(line, 10) <= resumedAfter);
        writeFileSync(path, head + kept.map((line) => `${line}\n`).join(""), { mode: 0o600 });
        file = openSync(path, "a");
      } catch {
        throw new Refusal("refused", `${path} cannot be written.`);
      }
    },
    add(rows: readonly RefusedRow[]): void {
      const lines = rows.map(({ line, reason }) => `${line},"${reason.replaceAll('"', '""')}"\n`);
      if (file !== null && lines.length) writeSync(file, lines.join(""));
    },
    end(): void {
      if (file !== null) closeSync(file);
      file = null;
    },
  };
}
