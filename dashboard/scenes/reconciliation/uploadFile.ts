// Sends a list of orders to the relay. A long file goes in several requests: CSV is cut between two rows, and each part begins with
// the header.

import { maxUploadMiB } from "../../../src/kernel/reconciliation.ts";
import { commonText } from "../../messages/common.ts";
import { ApiError, urlOf, type Answer } from "../../common/api/api.ts";

export type Uploaded = Answer<"POST /sites/:site/orders/upload">;

const maxPartLength = (maxUploadMiB * 1024 * 1024) / 4;

/** Cuts a text after whole rows. A line break inside quotes is part of a row. */
export function partsOf(text: string, maxLength = maxPartLength): string[] {
  const isNdjson = text.trimStart().startsWith("{");
  const ends = rowEnds(text, isNdjson);
  const header = isNdjson ? "" : text.slice(0, ends[0] ?? text.length);
  const parts: string[] = [];
  let begin = header.length;
  let end = begin;
  for (const next of [...ends.filter((at) => at > begin), text.length]) {
    if (next - begin > maxLength && end > begin) {
      parts.push(header + text.slice(begin, end));
      begin = end;
    }
    end = next;
  }
  if (end > begin || parts.length === 0) parts.push(header + text.slice(begin, end));
  return parts;
}

function rowEnds(text: string, isNdjson: boolean): number[] {
  const ends: number[] = [];
  let isQuoted = false;
  for (let at = 0; at < text.length; at++) {
    const sign = text[at];
    if (sign === '"' && !isNdjson) isQuoted = !isQuoted;
    else if (sign === "\n" && !isQuoted) ends.push(at + 1);
  }
  return ends;
}

/** Returns the sum of all parts. Lines are those of the part that a row is in, so only the first part's are kept. */
export async function uploadFile(
  site: string,
  file: Blob,
  onProgress: (share: number) => void,
): Promise<Uploaded> {
  const parts = partsOf(await file.text());
  const sum: Uploaded = { rows: 0, written: 0, refused: 0, reasons: {} };
  for (const [i, part] of parts.entries()) {
    const answer = await send(site, part);
    sum.rows += answer.rows;
    sum.written += answer.written;
    sum.refused += answer.refused;
    for (const [reason, { count, lines }] of Object.entries(answer.reasons)) {
      const known = (sum.reasons[reason] ??= { count: 0, lines: i === 0 ? lines : [] });
      known.count += count;
    }
    onProgress((i + 1) / parts.length);
  }
  return sum;
}

async function send(site: string, text: string): Promise<Uploaded> {
  const response = await fetch(urlOf("POST /sites/:site/orders/upload", { params: { site } }), {
    method: "POST",
    credentials: "same-origin",
    headers: { "content-type": "text/csv" },
    body: text,
  }).catch(() => {
    throw new ApiError(0, "offline", commonText.offline);
  });
  const answer: unknown = await response.json().catch(() => null);
  if (response.ok) return answer as Uploaded;
  const { error } = (answer ?? {}) as { error?: { message: string } };
  throw new ApiError(response.status, "invalid", error?.message ?? commonText.failedRequest(response.status));
}
