// A disk that keeps only what was synced. It is given what a process did to its files, and makes the images that a power cut
// could leave: of everything after the last sync of a file, each sector may be there or not, in any order. What was created,
// removed or renamed since the last sync of the folder may be undone, from the last change backwards.

import type { Random } from "../faults/random.ts";

const sectorBytes = 512;

/** What a process did, in the order in which its calls ended. `began` is the number of calls that had ended when this one began. */
export type DiskCall =
  | { kind: "write"; file: string; at: number; data: Buffer }
  | { kind: "truncate"; file: string; size: number }
  | { kind: "sync"; file: string; began: number }
  | { kind: "create" | "remove"; file: string }
  | { kind: "link" | "rename"; file: string; to: string }
  /** The folder itself is new. */
  | { kind: "create folder" }
  | { kind: "sync folder" | "sync parent of folder"; began: number }
  /** The process promised something to the world: it answered an event, or showed a key. */
  | { kind: "answer"; promise: string };

/** The content of a folder, by file name. */
export type Image = Map<string, Buffer>;

type Change = Extract<DiskCall, { kind: "write" | "truncate" }>;
type Numbered<T> = T & { number: number };
type Naming = { file: string; content: File | null };

/** How much of what was not synced is on the disk. `garbage`: where a file grew, lost sectors are not zero. */
export const lucks = ["nothing", "everything", "some sectors", "all but one sector", "garbage"] as const;
export type Luck = (typeof lucks)[number];

/** A file apart from its name. */
class File {
  readonly synced: Content;
  pending: Numbered<Change>[] = [];

  constructor(content: Buffer = Buffer.alloc(0)) {
    this.synced = new Content(content);
  }

  sync(began: number): void {
    for (const change of this.pending) if (change.number < began) this.synced.apply(change);
    this.pending = this.pending.filter(({ number }) => number >= began);
  }
}

/** Bytes that change in place. */
class Content {
  #bytes: Buffer;
  #size: number;

  constructor(bytes: Buffer) {
    this.#bytes = Buffer.from(bytes);
    this.#size = bytes.length;
  }

  apply(change: Change): void {
    if (change.kind === "write") this.write(change.at, change.data);
    else this.resize(change.size);
  }

  write(at: number, data: Buffer): void {
    this.resize(Math.max(this.#size, at + data.length));
    data.copy(this.#bytes, at);
  }

  resize(size: number): void {
    if (size > this.#bytes.length) this.#bytes = Buffer.concat([this.#bytes], Math.max(size, this.#bytes.length * 2));
    if (size < this.#size) this.#bytes.fill(0, size, this.#size);
    this.#size = size;
  }

  get size(): number {
    return this.#size;
  }

  toBuffer(): Buffer {
    return Buffer.from(this.#bytes.subarray(0, this.#size));
  }
}

export class Disk {
  /** As the process sees it, and as the folder was at its last sync. */
  readonly #names: Map<string, File>;
  readonly #syncedNames: Map<string, File>;
  #namings: Numbered<Naming>[] = [];
  /** The number of the call that created the folder; null when its own name is synced. */
  #createdBy: number | null = null;
  #calls = 0;
  readonly promises: Set<string>;

  /** `promises` were made before. */
  constructor(start: Image, promises: Iterable<string> = []) {
    this.#names = new Map([...start].map(([name, content]) => [name, new File(content)]));
    this.#syncedNames = new Map(this.#names);
    this.promises = new Set(promises);
  }

  take(call: DiskCall): void {
    const number = this.#calls;
    this.#calls += 1;
    switch (call.kind) {
      case "write":
      case "truncate":
        this.#fileOf(call.file).pending.push({ ...call, number });
        break;
      case "sync":
        this.#fileOf(call.file).sync(call.began);
        break;
      case "create":
        if (!this.#names.has(call.file)) this.#name(number, call.file, new File());
        break;
      case "remove":
        this.#name(number, call.file, null);
        break;
      case "link":
        this.#name(number, call.to, this.#fileOf(call.file));
        break;
      case "rename":
        this.#name(number, call.to, this.#fileOf(call.file));
        this.#name(number, call.file, null);
        break;
      case "create folder":
        this.#createdBy = number;
        break;
      case "sync folder":
        for (const naming of this.#namings) if (naming.number < call.began) applyName(this.#syncedNames, naming);
        this.#namings = this.#namings.filter((naming) => naming.number >= call.began);
        break;
      case "sync parent of folder":
        if ((this.#createdBy ?? Infinity) < call.began) this.#createdBy = null;
        break;
      case "answer":
        this.promises.add(call.promise);
        break;
    }
  }

  #fileOf(name: string): File {
    const found = this.#names.get(name);
    if (!found) throw new Error(`the file ${name} was never created`);
    return found;
  }

  #name(number: number, file: string, content: File | null): void {
    applyName(this.#names, { file, content });
    this.#namings.push({ number, file, content });
  }

  /** How many sectors were written and not synced. */
  pendingSectors(): number {
    let sum = 0;
    for (const { pending } of this.#names.values()) for (const change of pending) sum += partsOf(change).length;
    return sum;
  }

  /** The folder after a power cut at this moment. */
  imageAfterCut(luck: Luck, random: Random): Image {
    if (this.#createdBy !== null && luck === "nothing") return new Map();
    const names = new Map(this.#syncedNames);
    const all = this.#namings.length;
    const kept = luck === "nothing" ? 0 : luck === "everything" ? all : random.below(all + 1);
    for (const naming of this.#namings.slice(0, kept)) applyName(names, naming);
    const isKept = keptBy(luck, random, this.pendingSectors());
    const garbage = luck === "garbage" ? random : null;
    return new Map([...names].map(([name, file]) => [name, contentAfterCut(file, isKept, garbage)]));
  }
}

function applyName(names: Map<string, File>, { file, content }: Naming): void {
  if (content) names.set(file, content);
  else names.delete(file);
}

function keptBy(luck: Luck, random: Random, sectors: number): () => boolean {
  if (luck === "nothing") return () => false;
  if (luck === "everything") return () => true;
  const lost = random.below(Math.max(sectors, 1));
  let sector = -1;
  // The probability differs from image to image, so that some lose nearly everything and some nearly nothing.
  const probability = random.next();
  return () => {
    sector += 1;
    return luck === "all but one sector" ? sector !== lost : random.next() < probability;
  };
}

/** The parts of a change that are on the disk or not, each as a whole. */
function partsOf(change: Change): Change[] {
  if (change.kind === "truncate") return [change];
  const { file, at, data } = change;
  const parts: Change[] = [];
  for (let from = 0; from < data.length;) {
    const to = Math.min(data.length, from + sectorBytes - ((at + from) % sectorBytes));
    parts.push({ kind: "write", file, at: at + from, data: data.subarray(from, to) });
    from = to;
  }
  return parts;
}

function contentAfterCut({ synced, pending }: File, isKept: () => boolean, garbage: Random | null): Buffer {
  if (pending.length === 0) return synced.toBuffer();
  const content = new Content(synced.toBuffer());
  for (const part of pending.flatMap(partsOf)) {
    if (isKept()) content.apply(part);
    else if (part.kind === "write" && part.at >= content.size && garbage) content.write(part.at, garbage.bytes(part.data.length));
  }
  return content.toBuffer();
}
