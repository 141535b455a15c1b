// Random values that can be drawn again: the same seed gives the same requests.

import { seededRandom } from "../../standins/shared/seededRandom.ts";

export type Random = {
  /** From 0 to below 1. */
  next(): number;
  /** A whole number from 0 to below `limit`. */
  below(limit: number): number;
  pick<T>(from: readonly T[]): T;
  bytes(length: number): Buffer;
};

export function randomFrom(seed: number): Random {
  const next = seededRandom(seed);
  const below = (limit: number) => Math.floor(next() * limit);
  return {
    next,
    below,
    pick: (from) => from[below(from.length)] as (typeof from)[number],
    bytes: (length) => Buffer.from(Array.from({ length }, () => below(256))),
  };
}
