/** A page of a list that was read with one row more than fits: that row says whether there is another page. */
export function pageOf<Item extends { id: string }>(
  rows: readonly Item[],
  limit: number,
): { items: Item[]; next: string | null } {
  const items = rows.slice(0, limit);
  return { items, next: rows.length > limit ? (items.at(-1)?.id ?? null) : null };
}
