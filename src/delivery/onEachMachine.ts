import type { Store } from "../store/store.ts";

/**
 * Does work on sites and returns the errors. The machines of a sharded database do not wait for each other. Work that fails keeps no
 * other from being done, except where its machine is down: every other site there would take as long to fail.
 */
export async function onEachMachine<T>(
  { slices, health }: Pick<Store, "slices" | "health">,
  items: Iterable<T>,
  siteOf: (item: T) => string,
  work: (item: T) => Promise<unknown>,
): Promise<unknown[]> {
  const errors: unknown[] = [];
  const bySite = Map.groupBy(items, siteOf);
  if (bySite.size === 0) return errors;
  const machines = await slices.divide(bySite.keys());
  async function onMachine(siteIds: readonly string[]): Promise<void> {
    for (const item of siteIds.flatMap((siteId) => bySite.get(siteId) ?? []))
      try {
        await work(item);
      } catch (error) {
        errors.push(error);
        if (health.isMachineError(error)) return;
      }
  }
  await Promise.all([...machines.values()].map((slicesOf) => onMachine([...slicesOf.values()].flat())));
  return errors;
}
