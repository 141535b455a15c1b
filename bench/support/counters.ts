// Counters of what a candidate does during a run: bytes allocated, bytes of the database's log, statements.

import { closeSync, openSync, readSync } from "node:fs";
import type { Meter } from "./databaseMeter.ts";
import type { AllocationOrder } from "./allocations.ts";

/** Per event; NaN where a candidate is not counted. */
export type Counts = { allocated: number; walBytes: number; statements: number };
export const uncounted: Counts = { allocated: Number.NaN, walBytes: Number.NaN, statements: Number.NaN };

/** Begins to count; the returned function ends it. */
export type Counter = () => Promise<() => Promise<Partial<Counts>>>;

export const allocationCounter =
  (ask: (order: AllocationOrder) => Promise<number>): Counter =>
  async () => {
    await ask("begin");
    return async () => ({ allocated: await ask("end") });
  };

export const databaseCounter =
  (meter: Meter, database: string): Counter =>
  async () => {
    const before = await meter.count(database);
    return async () => {
      const after = await meter.count(database);
      return {
        walBytes: after.walBytes - before.walBytes,
        statements: after.statements - before.statements,
      };
    };
  };

export const readEveryMs = 5;
const logHeaderBytes = 32;
const frameHeaderBytes = 24;

/**
 * Counts the bytes that SQLite writes to its log. The log starts anew after a checkpoint, so its size says nothing; the
 * index of the log (`-shm`) holds the number of frames, the page size, and a salt that changes with every new start. Frames
 * that were written between the last reading and a new start are found in the log by their salt. The log must not start
 * anew twice between two readings; the relay's does about once a second.
 */
export const logCounter =
  (file: string): Counter =>
  async () => {
    const [index, log] = [openSync(`${file}-shm`, "r"), openSync(`${file}-wal`, "r")];
    const readHeader = () => {
      const header = Buffer.alloc(48);
      readSync(index, header, 0, header.length, 0);
      const frameBytes = frameHeaderBytes + header.readUInt16LE(14);
      return { frameBytes, frames: header.readUInt32LE(16), salt: header.subarray(32, 40) };
    };
    let last = readHeader();
    function countUnseen(): number {
      const header = Buffer.alloc(frameHeaderBytes);
      for (let count = 0; ; count++) {
        const at = logHeaderBytes + (last.frames + count) * last.frameBytes;
        const isRead = readSync(log, header, 0, header.length, at) === header.length;
        if (!isRead || !header.subarray(8, 16).equals(last.salt)) return count;
      }
    }
    let frames = 0;
    const count = () => {
      const now = readHeader();
      frames += now.salt.equals(last.salt) ? now.frames - last.frames : countUnseen() + now.frames;
      last = now;
    };
    const timer = setInterval(count, readEveryMs);
    return async () => {
      clearInterval(timer);
      count();
      closeSync(index);
      closeSync(log);
      return { walBytes: frames * last.frameBytes };
    };
  };
