// node:fs for the log of the embedded database and for the data folder: on the disk of the simulated machine.

import { fileOfCaller } from "../database/file.ts";
import { diskOf } from "../database/disk.ts";
import { callingProcess } from "../runtime/world.ts";

export { accessSync, constants, existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";

/** The data folder is always there. */
export const mkdirSync = (): void => {};
export const realpathSync = (path: string): string => path;

type Callback = (error: Error | null, result?: number) => void;

export function open(_path: string, _flags: string, callback: Callback): void {
  callingProcess().after(0.05, "open log", () => callback(null, 3));
}

export function close(_descriptor: number, callback: Callback): void {
  callingProcess().after(0.05, "close log", () => callback(null));
}

/** What was committed before the call is on the disk when it ends. */
export function fdatasync(_descriptor: number, callback: Callback): void {
  const process = callingProcess();
  const end = fileOfCaller("flush").beginFlush();
  const { ms, error } = diskOf(process.machine).flush();
  // The disk writes whether the process lives or not.
  process.world.after(ms, "flushed", () => {
    if (!error) end();
    process.after(0, error ? "flush failed" : "flush ended", () => callback(error));
  });
}
