// How long flushes of a simulated machine's disk take, and whether they fail.

import type { Machine } from "../runtime/world.ts";

type Disk = { flush: () => { ms: number; error: Error | null } };

const disks = new WeakMap<Machine, Disk>();

export const placeDisk = (machine: Machine, disk: Disk) => void disks.set(machine, disk);

export function diskOf(machine: Machine): Disk {
  const disk = disks.get(machine);
  if (!disk) throw new Error(`machine ${machine.name} has no disk`);
  return disk;
}
