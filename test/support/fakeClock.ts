// Runs a relay under libfaketime: its wall clock is off by as much as a file says, and the test changes the file.

import { existsSync, globSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freshFolder } from "./databases.ts";

/** CLEANCAST_TEST_FAKETIME names the library where it is not installed in one of the usual places. */
const places = [
  process.env["CLEANCAST_TEST_FAKETIME"] ?? "",
  ...globSync("/usr/lib/*/faketime/libfaketime.so.1"),
  "/usr/lib/faketime/libfaketime.so.1",
  "/usr/local/lib/faketime/libfaketime.so.1",
];

/** The path of the library; null where it is not installed. */
export const fakeTimeLibrary = places.find((path) => path !== "" && existsSync(path)) ?? null;

export type FakeClock = {
  /** The variables of a process with this clock. */
  env: Record<string, string>;
  /** Sets the clock this many seconds ahead of the right time. */
  set(secondsAhead: number): void;
};

export function newFakeClock(library: string): FakeClock {
  const file = join(freshFolder(), "clock");
  const set = (secondsAhead: number) => writeFileSync(file, `+${secondsAhead}`);
  set(0);
  return {
    env: {
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: file,
      // The file is read again after a second.
      FAKETIME_CACHE_DURATION: "1",
      // Timers and the monotonic clock go on as they are, as they do when a real clock is set.
      FAKETIME_DONT_FAKE_MONOTONIC: "1",
      DONT_FAKE_MONOTONIC: "1",
    },
    set,
  };
}
