// Closes servers, processes and databases when the test file that opened them ends. Files share their worker, and with it
// these modules: a hook that a module registers itself would belong to the first file only. runner/cleanUp.ts calls this for
// each file.

type CleanUp = () => Promise<void> | void;

const cleanUps: CleanUp[] = [];

export function afterFile(cleanUp: CleanUp): void {
  cleanUps.push(cleanUp);
}

/** Runs the newest first, because it may depend on older ones. */
export async function cleanUpFile(): Promise<void> {
  for (const cleanUp of cleanUps.toReversed()) await cleanUp();
}

/** Empties a set and returns its members, so that each is closed once. */
export function takeAll<T>(all: Set<T>): T[] {
  const members = [...all];
  all.clear();
  return members;
}
