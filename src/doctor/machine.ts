// Checks the machine: Node, memory, open files, and the disk of the data folder.

import { readFileSync, statfsSync } from "node:fs";
import { totalmem } from "node:os";
import { bytesText, error, ok, warning, type Findings, type DoctorContext } from "./finding.ts";

export type Machine = {
  node: string;
  memoryBytes: number;
  /** Null where the system does not report it. */
  openFiles: number | null;
  disk: { freeBytes: number; wholeBytes: number; kind: number } | null;
};

export function readMachine(folder: string): Machine {
  const limit = process.constrainedMemory();
  return {
    node: process.versions.node,
    // Without a limit the system reports a number that is larger than any memory.
    memoryBytes: limit > 0 ? Math.min(limit, totalmem()) : totalmem(),
    openFiles: readOpenFilesLimit(),
    disk: readDisk(folder),
  };
}

function readOpenFilesLimit(): number | null {
  try {
    const limits = readFileSync("/proc/self/limits", "utf8");
    const soft = /^Max open files\s+(\d+|unlimited)/m.exec(limits)?.[1];
    return soft === undefined ? null : soft === "unlimited" ? Number.POSITIVE_INFINITY : Number(soft);
  } catch {
    return null;
  }
}

function readDisk(folder: string): Machine["disk"] {
  try {
    const { bsize, bavail, blocks, type } = statfsSync(folder);
    return { freeBytes: bsize * bavail, wholeBytes: bsize * blocks, kind: type };
  } catch {
    return null;
  }
}

const minNode = 24;
const minOpenFiles = 4096;
const minMemoryBytes = 256e6;
const fullBytes = 200e6;
const nearlyFullBytes = 2e9;

/** SQLite's locks are unreliable on these file systems. The keys are Linux's magic numbers. */
const networkFileSystems = new Map([
  [0x6969, "NFS"],
  [0x517b, "SMB"],
  [0xff534d42, "CIFS"],
  [0xfe534d42, "SMB"],
  [0x01021997, "9P"],
  [0x00c36400, "Ceph"],
  [0x0bd00bd0, "Lustre"],
  [0x65735546, "FUSE"],
]);

export function* checkMachine({ config }: DoctorContext, machine: Machine): Findings {
  const { node, memoryBytes, openFiles, disk } = machine;
  if (Number.parseInt(node, 10) < minNode) yield error(`Node ${node} is too old`, `Install Node ${minNode} or newer.`);
  else yield ok(`Node ${node}`);
  if (memoryBytes < minMemoryBytes)
    yield warning(
      `only ${bytesText(memoryBytes)} of memory are available`,
      "Give the relay 256 MB or more: with less it stops under load.",
    );
  if (openFiles !== null && openFiles < minOpenFiles)
    yield warning(
      `a process started here may open only ${openFiles} files, and every connection needs one`,
      `Set LimitNOFILE=65536 in the systemd unit, or 'ulimit -n 65536' before the start.`,
    );
  if (!disk) return;
  const left = `${bytesText(disk.freeBytes)} are free on the disk of ${config.dataFolder}`;
  const remedy =
    "Free disk space, move CLEANCAST_DATA, or shorten 'keep_events', 'keep' and 'keep_log'. With a full disk, events are refused with 503.";
  if (disk.freeBytes < fullBytes) yield error(left, remedy);
  else if (disk.freeBytes < Math.min(nearlyFullBytes, disk.wholeBytes / 10)) yield warning(left, remedy);
  const network = networkFileSystems.get(disk.kind);
  if (network && config.store.engine === "sqlite")
    yield error(
      `the embedded database is on a network file system (${network}), where its locks are unreliable`,
      "Move CLEANCAST_DATA to a local disk, or use PostgreSQL (DATABASE_URL).",
    );
}
