// Counts over sliding windows in bounded memory: the current window and the one before. What does not fit is forgotten.

const maxKeys = 20_000;
/** Keys and their members: few keys could have very many. */
const maxHeld = 2 * maxKeys;
/** Far above every limit of the signals. */
export const maxDistinct = 100;

type Windows<Entry> = {
  current: Map<string, Entry>;
  previous: Map<string, Entry>;
  elapsed: number;
  /** Keys and members in the current window. */
  held: number;
  set(key: string, entry: Entry): void;
};

export const find = <Entry>({ current, previous }: Windows<Entry>, key: string): Entry | undefined =>
  current.get(key) ?? previous.get(key);

/** Keeps the current and the previous window. A full window ends early, so that memory stays bounded. */
export function createWindows<Entry>(windowMs: number): (at: number) => Windows<Entry> {
  let since = 0;
  const windows: Windows<Entry> = {
    current: new Map(),
    previous: new Map(),
    elapsed: 0,
    held: 0,
    set(key, entry) {
      const { size } = windows.current;
      windows.current.set(key, entry);
      windows.held += windows.current.size - size;
    },
  };
  return (at: number) => {
    if (at - since >= windowMs || windows.current.size >= maxKeys || windows.held >= maxHeld) {
      windows.previous = at - since >= 2 * windowMs ? new Map() : windows.current;
      windows.current = new Map();
      windows.held = 0;
      since = at;
    }
    windows.elapsed = Math.min(1, (at - since) / windowMs);
    return windows;
  };
}

/** Counts a key within a sliding window; the previous window counts by the share that still overlaps. */
export function countWithin(windowMs: number): (key: string, adds: boolean, at: number) => number {
  const windowsAt = createWindows<number>(windowMs);
  return (key, adds, at) => {
    const windows = windowsAt(at);
    const count = (windows.current.get(key) ?? 0) + (adds ? 1 : 0);
    if (adds) windows.set(key, count);
    return Math.round(count + (windows.previous.get(key) ?? 0) * (1 - windows.elapsed));
  };
}

/** Counts the different members of a key within one to two windows. */
export function distinctWithin(windowMs: number): (key: string, member: string | null, at: number) => number {
  // Most keys have one member, and a set takes a hundred times the memory.
  const windowsAt = createWindows<string | Set<string>>(windowMs);
  return (key, member, at) => {
    const windows = windowsAt(at);
    if (member !== null) add(windows, key, member);
    const [members, earlier] = [windows.current.get(key), windows.previous.get(key)];
    if (members === undefined || earlier === undefined) return sizeOf(members ?? earlier);
    return setOf(earlier).union(setOf(members)).size;
  };
}

function add(windows: Windows<string | Set<string>>, key: string, member: string): void {
  const known = windows.current.get(key);
  if (known === undefined) return windows.set(key, member);
  if (known === member || (typeof known !== "string" && (known.has(member) || known.size >= maxDistinct))) return;
  if (typeof known === "string") windows.set(key, new Set([known, member]));
  else known.add(member);
  windows.held += 1;
}

const setOf = (entry: string | Set<string>) => (typeof entry === "string" ? new Set([entry]) : entry);

function sizeOf(entry: string | Set<string> | undefined): number {
  if (entry === undefined) return 0;
  return typeof entry === "string" ? 1 : entry.size;
}
