// Programs of the system that a test starts, where they are installed. They end with the test file.

import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { afterFile, taken } from "./afterFile.ts";

const running = new Set<ChildProcess>();

/** Ends the process with the test file that started it. */
export function endWithFile(child: ChildProcess): void {
  running.add(child);
}

afterFile(async () => {
  for (const child of taken(running)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    const ended = once(child, "exit");
    child.kill("SIGTERM");
    await ended;
  }
});

export function findProgram(name: string): string | undefined {
  const folders = [...(process.env.PATH ?? "").split(delimiter), "/usr/sbin", "/usr/bin"];
  return folders
    .map((folder) => join(folder, name))
    .find((path) => {
      try {
        accessSync(path, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}
