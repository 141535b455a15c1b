// Sends the parts of a file to the relay, one after the other, for a check or for the import.

import { useEffect, useRef, useState } from "react";
import { ApiError, upload, type Answer, type Input } from "../../../common/api/api.ts";
import { queryClient } from "../../../common/api/query.ts";
import { isNdjson, partsOf, rowsOf, type TextFile } from "../../../common/files.ts";
import { newImportTally, type ImportTally } from "../../../../src/kernel/imports.ts";
import { serverText } from "../../../messages/server.ts";

const route = "POST /sites/:site/imports/parts";
type PartAnswer = Answer<typeof route>;
export type Wish = Omit<NonNullable<Input<typeof route>["query"]>, "file" | "sha256" | "skippedLines" | "isLast" | "dryRun">;

type Progress = { share: number; rows: number; waitingFor: string | null };
export type Report = {
  state: PartAnswer["state"];
  tally: ImportTally;
  refusedRows: PartAnswer["refusedRows"];
  /** Duplicates of rows in other parts are found only by the import. */
  hasSeveralParts: boolean;
};

const waitMs = 1000;

async function sendParts(
  { site, file, wish, dryRun }: { site: string; file: TextFile; wish: Wish; dryRun: boolean },
  isStopped: () => boolean,
  onProgress: (progress: Progress) => void,
): Promise<Report> {
  const parts = partsOf(file.text);
  const report: Report = {
    state: "stopped",
    tally: newImportTally(),
    refusedRows: [],
    hasSeveralParts: parts.length > 1,
  };
  const checked = newImportTally();
  for (let i = 0; i < parts.length && !isStopped();) {
    const { text, skippedLines } = parts[i] as (typeof parts)[number];
    const { state, tally, isPartDone, waitingFor, refusedRows } = await upload(
      route,
      {
        params: { site },
        query: {
          ...wish,
          file: file.name,
          sha256: file.sha256,
          skippedLines,
          isLast: i === parts.length - 1 ? "true" : "false",
          dryRun: dryRun ? "true" : "false",
        },
      },
      text,
    );
    if (dryRun && state === "dry run") addTally(checked, tally);
    Object.assign(report, { state, tally: state === "dry run" ? checked : tally });
    report.refusedRows.push(...refusedRows);
    if (state === "done before") break;
    if (isPartDone) i += 1;
    onProgress({ share: i / parts.length, rows: report.tally.rows, waitingFor });
    // The relay empties the queue meanwhile.
    if (waitingFor !== null) await new Promise((resolve) => void setTimeout(resolve, waitMs));
  }
  return report;
}

function addTally(sum: ImportTally, tally: ImportTally): void {
  for (const name of ["rows", "imported", "duplicates", "filtered", "refused"] as const) sum[name] += tally[name];
  for (const [reason, { count, lines }] of Object.entries(tally.reasons)) {
    const known = (sum.reasons[reason] ??= { count: 0, lines });
    known.count += count;
  }
  for (const name of ["deliveries", "skipped"] as const)
    for (const [platform, counts] of Object.entries(tally[name])) {
      const known = (sum[name][platform] ??= {});
      for (const [key, count] of Object.entries(counts)) known[key] = (known[key] ?? 0) + count;
    }
}

/** Checks or imports a file. Leaving the page ends it after the part that is on its way. */
export function useImport(site: string) {
  const [progress, setProgress] = useState<(Progress & { dryRun: boolean }) | null>(null);
  const [report, setReport] = useState<(Report & { wish: Wish }) | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  const isStopped = useRef(false);
  const isRunning = progress !== null;
  useEffect(() => () => void (isStopped.current = true), []);
  useEffect(() => {
    if (!isRunning) return;
    const warn = (event: Event) => event.preventDefault();
    addEventListener("beforeunload", warn);
    return () => removeEventListener("beforeunload", warn);
  }, [isRunning]);

  async function start(file: TextFile, wish: Wish, dryRun: boolean): Promise<void> {
    isStopped.current = false;
    setError(null);
    setReport(null);
    setProgress({ share: 0, rows: 0, waitingFor: null, dryRun });
    try {
      const done = await sendParts(
        { site, file, wish, dryRun },
        () => isStopped.current,
        (at) => setProgress({ ...at, dryRun }),
      );
      setReport({ ...done, wish });
      if (!dryRun) await queryClient.invalidateQueries();
    } catch (failure) {
      if (!(failure instanceof ApiError)) throw failure;
      setError(failure);
    } finally {
      setProgress(null);
    }
  }

  return {
    progress,
    report,
    error,
    start,
    stop: () => void (isStopped.current = true),
    clear: () => {
      setReport(null);
      setError(null);
    },
  };
}

/** The refused rows as they are in the file, each with its line and reason. They come from this page: the relay keeps none. */
export function refusedFile({ text }: TextFile, rows: Report["refusedRows"], delimiter: string | null): string {
  const reasons = new Map(rows.map(({ line, reason }) => [line, serverText(reason)]));
  const lines: string[] = [];
  const separator = delimiter ?? ",";
  const quote = (value: string) => `"${value.replaceAll('"', '""')}"`;
  for (const { line, row } of rowsOf(text)) {
    const reason = reasons.get(line);
    if (isNdjson(text)) {
      if (reason !== undefined) lines.push(JSON.stringify({ line, reason, row }));
    } else if (lines.length === 0) lines.push(["line", "reason", row].join(separator));
    else if (reason !== undefined) lines.push([String(line), quote(reason), row].join(separator));
  }
  return `${lines.join("\n")}\n`;
}
