// The machine: Node, memory, open files, and the disk that the data is on.

import { readFileSync, statfsSync } from "node:fs";
import { totalmem } from "node:os";
import { bytesText, error, ok, warning, type Finding, type DoctorContext } from "./finding.ts";

export type Machine = {
  node: string;
  memoryBytes: number;
  /** null where the system does not tell. */
  openFiles: number | null;
  disk: { freeBytes: number; wholeBytes: number; kind: number } | null;
};

export function thisMachine(folder: string): Machine {
  const limit = process.constrainedMemory();
  return {
    node: process.versions.node,
    // Without a limit the system tells a number that no machine has.
    memoryBytes: limit > 0 ? Math.min(limit, totalmem()) : totalmem(),
    openFiles: openFilesLimit(),
    disk: diskOf(folder),
  };
}

function openFilesLimit(): number | null {
  try {
    const limits = readFileSync("/proc/self/limits", "utf8");
    const soft = /^Max open files\s+(\d+|unlimited)/m.exec(limits)?.[1];
    return soft === undefined ? null : soft === "unlimited" ? Number.POSITIVE_INFINITY : Number(soft);
  } catch {
    return null;
  }
}

function diskOf(folder: string): Machine["disk"] {
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

/** SQLite's locks do not hold on these. Numbers are Linux' own for each kind. */
const networkKinds = new Map([
  [0x6969, "NFS"],
  [0x517b, "SMB"],
  [0xff534d42, "CIFS"],
  [0xfe534d42, "SMB"],
  [0x01021997, "9P"],
  [0x00c36400, "Ceph"],
  [0x0bd00bd0, "Lustre"],
  [0x65735546, "FUSE"],
]);

export function checkMachine({ config }: DoctorContext, machine: Machine): Finding[] {
  const findings: Finding[] = [];
  const { node, memoryBytes, openFiles, disk } = machine;
  if (Number.parseInt(node, 10) < minNode)
    findings.push(error(`Node ${node} is too old`, `Install Node ${minNode} or newer.`));
  else findings.push(ok(`Node ${node}`));
  if (memoryBytes < minMemoryBytes)
    findings.push(
      warning(
        `there are only ${bytesText(memoryBytes)} of memory`,
        "Give the relay 256 MB or more: less makes it stop under load.",
      ),
    );
  if (openFiles !== null && openFiles < minOpenFiles)
    findings.push(
      warning(
        `a process started here may open only ${openFiles} files; every connection is one`,
        `Set LimitNOFILE=65536 in the systemd unit, or 'ulimit -n 65536' before the start.`,
      ),
    );
  if (!disk) return findings;
  const left = `${bytesText(disk.freeBytes)} are left on the disk of ${config.dataFolder}`;
  const remedy =
    "Make room, move CLEANCAST_DATA, or shorten 'keep' and 'keep_log'. A full disk refuses events with 503.";
  if (disk.freeBytes < fullBytes) findings.push(error(left, remedy));
  else if (disk.freeBytes < Math.min(nearlyFullBytes, disk.wholeBytes / 10))
    findings.push(warning(left, remedy));
  const network = networkKinds.get(disk.kind);
  if (network && config.store.engine === "sqlite")
    findings.push(
      error(
        `the embedded database lies on a network filesystem (${network}), where its locks may not hold`,
        "Move CLEANCAST_DATA to a local disk, or use PostgreSQL (DATABASE_URL).",
      ),
    );
  return findings;
}
