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
