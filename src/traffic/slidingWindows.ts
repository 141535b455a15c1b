// Counts over sliding windows in bounded memory: the current window and the one before. What does not fit is forgotten, the
// lightest first and from each owner alike, so that invented keys do not displace what repeats. A key begins with its owner: a
// network, or an id that is its own.

/**
 * The keys of an owner are in one of so many parts. Each makes room for itself: to sort 20,000 keys at once would hold the thread for tens
 * of milliseconds, in which no conversion is answered.
 */
const partCount = 32;
/** Of one part. */
const maxKeys = 20_000 / partCount;
/** Keys and their members: few keys could have very many. */
const maxHeld = 2 * maxKeys;
/** Work that takes a while asks with the time of its beginning. A time before that says that the clock was set back. */
const maxLateShare = 0.1;
export const ownerLength = 4;
/** Far above every limit of the signals. */
export const maxDistinct = 100;

type Entries<Entry> = Pick<ReadonlyMap<string, Entry>, "get">;

type Windows<Entry> = {
  current: Entries<Entry>;
  previous: Entries<Entry>;
  elapsed: number;
  set(key: string, entry: Entry): void;
  /** To be called when the entry of a key in the current window has one more member. */
  noteMember(key: string): void;
};

/** `held` are the keys and members in the current window. */
type Keys<Entry> = { current: Map<string, Entry>; previous: Map<string, Entry>; held: number };

export const find = <Entry>({ current, previous }: Windows<Entry>, key: string): Entry | undefined =>
  current.get(key) ?? previous.get(key);

type Size = { weight: number; held: number };
const single: Size = { weight: 1, held: 1 };

/** Keeps the current and the previous window. Of a full part the heavier half is kept. */
export function createWindows<Entry>(
  windowMs: number,
  measure: (entry: Entry) => Size = () => single,
): (at: number) => Windows<Entry> {
  let since = 0;
  let last = 0;
  const parts = Array.from({ length: partCount }, (): Keys<Entry> => ({ current: new Map(), previous: new Map(), held: 0 }));
  const full = new Set<Keys<Entry>>();
  const partOf = (key: string) => parts[partNumberOf(key)] as Keys<Entry>;

  function hold(part: Keys<Entry>, more: number): void {
    part.held += more;
    if (part.current.size >= maxKeys || part.held >= maxHeld) full.add(part);
  }

  const windows: Windows<Entry> = {
    current: { get: (key) => partOf(key).current.get(key) },
    previous: { get: (key) => partOf(key).previous.get(key) },
    elapsed: 0,
    set(key, entry) {
      const part = partOf(key);
      const { size } = part.current;
      part.current.set(key, entry);
      hold(part, part.current.size - size);
    },
    noteMember: (key) => hold(partOf(key), 1),
  };

  function beginWindow(keepsPrevious: boolean): void {
    for (const part of parts) {
      part.previous = keepsPrevious ? part.current : new Map();
      part.current = new Map();
      part.held = 0;
    }
    full.clear();
  }

  function makeRoom(part: Keys<Entry>): void {
    const [heavy, light] = divide(part.current, measure);
    const [earlier] = divide(part.previous, measure);
    part.current = heavy.entries;
    part.held = heavy.held;
    part.previous = new Map([...light.entries, ...earlier.entries]);
    full.delete(part);
  }

  return (at: number) => {
    const isSetBack = last - at > windowMs * maxLateShare;
    if (isSetBack || at - since >= windowMs) {
      beginWindow(isSetBack || at - since < 2 * windowMs);
      since = at;
    } else if (full.size > 0) for (const part of full.values().take(1)) makeRoom(part);
    last = at;
    windows.elapsed = Math.max(0, Math.min(1, (at - since) / windowMs));
    return windows;
  };
}

/** Owners are random, or hashes. */
function partNumberOf(key: string): number {
  let sum = 0;
  for (let i = Math.min(ownerLength, key.length) - 1; i >= 0; i -= 1) sum += key.charCodeAt(i);
  return sum % partCount;
}

type Part<Entry> = { entries: Map<string, Entry>; held: number };

/** The heaviest entry of each owner comes first, then the second of each; of equal ones the heavier, then the older. */
function divide<Entry>(all: Map<string, Entry>, measure: (entry: Entry) => Size): [heavy: Part<Entry>, light: Part<Entry>] {
  type Sized = { key: string; entry: Entry; size: Size };
  const sized: Sized[] = [];
  let isEven = true;
  for (const [key, entry] of all) {
    const size = measure(entry);
    isEven &&= size.weight === (sized[0]?.size ?? size).weight;
    sized.push({ key, entry, size });
  }
  // Most windows have entries of one weight, and sorting takes most of the time.
  if (!isEven) sized.sort((one, other) => other.size.weight - one.size.weight);
  const ranks = new Map<string, number>();
  const byRank: Sized[][] = [];
  for (const one of sized) {
    const owner = one.key.slice(0, ownerLength);
    const rank = ranks.get(owner) ?? 0;
    ranks.set(owner, rank + 1);
    (byRank[rank] ??= []).push(one);
  }
  const parts: [Part<Entry>, Part<Entry>] = [
    { entries: new Map(), held: 0 },
    { entries: new Map(), held: 0 },
  ];
  const [heavy, light] = parts;
  for (const some of byRank)
    for (const { key, entry, size } of some) {
      const hasRoom = heavy.entries.size < maxKeys / 2 && heavy.held + size.held <= maxHeld / 2;
      const part = hasRoom ? heavy : light;
      part.entries.set(key, entry);
      part.held += size.held;
    }
  return parts;
}

/** Counts a key within a sliding window; the previous window counts by the share that still overlaps. */
export function countWithin(windowMs: number): (key: string, adds: boolean, at: number) => number {
  const windowsAt = createWindows<number>(windowMs, (weight) => ({ weight, held: 1 }));
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
  const windowsAt = createWindows<string | Set<string>>(windowMs, (entry) => ({ weight: sizeOf(entry), held: sizeOf(entry) }));
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
  windows.noteMember(key);
}

const setOf = (entry: string | Set<string>) => (typeof entry === "string" ? new Set([entry]) : entry);

function sizeOf(entry: string | Set<string> | undefined): number {
  if (entry === undefined) return 0;
  return typeof entry === "string" ? 1 : entry.size;
}

/** Adds up named numbers of a key. A new window begins with half of the one before, so that it does not begin without knowledge. */
export function sumsOf<Sums extends Record<string, number>>(windowMs: number, zero: Sums): (key: string, at: number) => Sums {
  const windowsAt = createWindows<Sums>(windowMs);
  return (key, at) => {
    const windows = windowsAt(at);
    const known = windows.current.get(key);
    if (known) return known;
    const before = windows.previous.get(key) ?? zero;
    const sums = Object.fromEntries(Object.entries(before).map(([name, sum]) => [name, sum / 2])) as Sums;
    windows.set(key, sums);
    return sums;
  };
}
