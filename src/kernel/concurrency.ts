import { yieldToEventLoop } from "./deadline.ts";

/** Calls `work` for every item, at most `limit` at a time. */
export async function forEachConcurrently<Item>(
  items: Iterable<Item>,
  limit: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const left = Iterator.from(items);
  const workNext = async () => {
    for (const item of left) await work(item);
  };
  await Promise.all(Array.from({ length: limit }, workNext));
}

/** Events that are worked on without a pause: one or two milliseconds. */
const sliceItems = 16;

/** Works on a list in slices, so that other requests run in between. A list of one slice is done at once. */
export async function inSlices<Item, Result>(items: readonly Item[], work: (item: Item, i: number) => Result): Promise<Result[]> {
  const results: Result[] = [];
  for (const [i, item] of items.entries()) {
    if (i > 0 && i % sliceItems === 0) await yieldToEventLoop();
    results.push(work(item, i));
  }
  return results;
}
