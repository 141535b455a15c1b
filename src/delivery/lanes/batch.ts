// Chooses which of the waiting jobs of a connection share a request.

import { platformOf } from "../../platforms/index.ts";
import type { Connection } from "../../sites/directory.ts";
import type { QueuedJob } from "./deliver.ts";

/** Bounds a request whose events have long lists of items to a few megabytes. */
const maxBatchItems = 2000;

export const isBackfill = ({ job }: QueuedJob) => job.isBackfill === true;

/** A defect of a platform's functions is reported when the request is made. Here it would hold up all jobs behind this one. */
function orElse<T>(otherwise: T, work: () => T): T {
  try {
    return work();
  } catch {
    return otherwise;
  }
}

/**
 * Takes the oldest job from `waiting` with the later ones that may share its request: as many as the platform allows, never test
 * with live events, nor a backfill with others.
 */
export function takeBatch(waiting: QueuedJob[], connection: Connection | undefined, now: number): QueuedJob[] {
  const platform = platformOf(connection?.platform ?? "");
  const settings = connection?.settings ?? {};
  const groupOf = (one: QueuedJob) => {
    const { conversion } = one.job;
    const group = orElse("", () => platform?.group?.(conversion, settings, now) ?? "");
    return `${conversion.mode} ${isBackfill(one) ? "backfill " : ""}${group}`;
  };
  const maxSize = platform?.batch ?? 1;
  const maxItems = platform?.batchItems ?? maxBatchItems;
  const group = groupOf(waiting[0] as QueuedJob);
  const batch: QueuedJob[] = [];
  const others: QueuedJob[] = [];
  for (let at = 0, size = 0, items = 0; at < waiting.length && size < maxSize; at++) {
    const one = waiting[at] as QueuedJob;
    if (groupOf(one) !== group) {
      others.push(one);
      continue;
    }
    const { conversion } = one.job;
    size += orElse(1, () => platform?.size?.(conversion, settings) || 1);
    items += conversion.items?.length ?? 0;
    if ((size > maxSize || items > maxItems) && batch.length > 0) break;
    batch.push(one);
  }
  waiting.splice(0, batch.length + others.length, ...others);
  return batch;
}
