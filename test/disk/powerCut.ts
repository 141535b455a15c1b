// Cuts the power at moments of a recording, opens what is left as the relay does, and says what is wrong with it.

import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readConfig } from "../../src/installation/config.ts";
import { loadInstallation } from "../../src/installation/installation.ts";
import { checkLocation } from "../../src/maintenance/check.ts";
import { createDirectory } from "../../src/sites/directory.ts";
import { randomFrom } from "../faults/random.ts";
import { freshFolder } from "../support/databases.ts";
import { Disk, lucks, type DiskCall, type Image, type Luck } from "./diskModel.ts";

/** What was on the disk at first, what had been promised by then, and what the process did from then on. */
export type Recording = { start: Image; promises?: readonly string[]; calls: DiskCall[] };

/** SQLite maps -shm into memory and makes it anew after a cut. The locks hold nothing. */
export const isRecorded = (name: string) => !/-shm$|\.lock(?:-journal)?$/.test(name);

export function readFolder(folder: string): Image {
  const names = readdirSync(folder).filter(isRecorded);
  return new Map(names.map((name) => [name, readFileSync(join(folder, name))]));
}

export function writeFolder(folder: string, image: Image): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { mode: 0o700, recursive: true });
  for (const [name, content] of image) writeFileSync(join(folder, name), content, { mode: 0o600 });
}

/**
 * Returns one sentence for each fault: a promise that is not kept, an inconsistency, or an installation that cannot be
 * opened. Promises are names of events that were answered, and keys that were shown.
 */
export async function faultsAfterCut(folder: string, image: Image, promises: ReadonlySet<string>): Promise<string[]> {
  writeFolder(folder, image);
  try {
    const config = readConfig({ CLEANCAST_DATA: folder });
    const store = await loadInstallation(config);
    try {
      const directory = createDirectory(store);
      await directory.refresh();
      const stored = new Set<string>();
      for (const { id } of directory.sites())
        for (const { name } of await store.events.list(id, { limit: 5000 })) stored.add(name);
      const isKept = (one: string) => (one.startsWith("cc_") ? directory.key(one) !== undefined : stored.has(one));
      const broken = [...promises].filter((one) => !isKept(one)).map((one) => `${one} is lost`);
      const wrong = await checkLocation(config.store, config.encryptionKeys);
      return [...broken, ...wrong.map(({ what, count }) => `${count} ${what}`)];
    } finally {
      await store.close();
    }
  } catch (error) {
    return [`it cannot be opened: ${String(error)}`];
  }
}

export type Cut = {
  after: number;
  luck: Luck;
  sectors: number;
  /** Empty, except of the last cuts: a thousand images of a long log take more memory than a machine has. */
  image: Image;
  promises: ReadonlySet<string>;
  faults: string[];
};

const keptImages = 40;

/** Cuts the power after `images` of the calls from `from` on, spread evenly, with every kind of luck. */
export async function cutPower({ start, promises, calls }: Recording, images: number, seed: number, from = 0): Promise<Cut[]> {
  const random = randomFrom(seed);
  const folder = join(freshFolder(), "data");
  const moments = Array.from(
    { length: images },
    (_, i) => from + Math.ceil(((i + random.next()) / images) * (calls.length - from)),
  );
  const disk = new Disk(start, promises);
  const cuts: Cut[] = [];
  let taken = 0;
  for (const [i, after] of moments.toSorted((a, b) => a - b).entries()) {
    for (; taken < after; taken++) disk.take(calls[taken] as DiskCall);
    const luck = lucks[i % lucks.length] as Luck;
    const image = disk.imageAfterCut(luck, random);
    const promised = new Set(disk.promises);
    const faults = await faultsAfterCut(folder, image, promised);
    cuts.push({ after, luck, sectors: disk.pendingSectors(), image, promises: promised, faults });
    cuts.at(-keptImages - 1)?.image.clear();
  }
  return cuts;
}

/** The faults of all cuts, each with the moment of its cut, so that it can be found in the recording. */
export const faultsOf = (cuts: readonly Cut[]) =>
  cuts.flatMap(({ after, luck, faults }) => faults.map((fault) => `after call ${after}, ${luck}: ${fault}`));
