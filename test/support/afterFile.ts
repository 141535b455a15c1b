// Closes what helpers opened when the test file that used them ends. Files share their worker, and with it the helpers: a
// hook that a helper registers itself would belong to the first file only. cleanUp.ts calls this for each file.

type CleanUp = () => Promise<void> | void;

const cleanUps: CleanUp[] = [];

export function afterFile(cleanUp: CleanUp): void {
  cleanUps.push(cleanUp);
}

/** The last that was added comes first: what others stand on goes last. */
export async function cleanUpFile(): Promise<void> {
  for (const cleanUp of cleanUps.toReversed()) await cleanUp();
}

/** Empties a set, so that what it held is closed once. */
export function taken<T>(all: Set<T>): T[] {
  const some = [...all];
  all.clear();
  return some;
}
