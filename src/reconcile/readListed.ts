/** Read together: after an outage a look may list thousands. */
const maxTogether = 100;

/**
 * Reads what a look has listed. What cannot be read, such as while its machine is down, keeps nothing else from being read: the
 * next look lists it again. `onFailed` gets the first error and how many could not be read.
 */
export async function readListed<Key, Found>(
  keys: readonly Key[],
  read: (key: Key) => Promise<Found | null>,
  onFailed: (error: unknown, count: number) => void,
): Promise<Found[]> {
  const found: Found[] = [];
  const errors: unknown[] = [];
  for (let at = 0; at < keys.length; at += maxTogether) {
    for (const one of await Promise.allSettled(keys.slice(at, at + maxTogether).map(read))) {
      if (one.status === "rejected") errors.push(one.reason);
      else if (one.value !== null) found.push(one.value);
    }
  }
  if (errors.length) onFailed(errors[0], errors.length);
  return found;
}
