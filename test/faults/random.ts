// Random numbers that can be drawn again: the same seed gives the same requests.

export type Random = {
  /** 0 … below 1 */
  next(): number;
  /** A whole number from 0 up to, and without, `limit`. */
  below(limit: number): number;
  pick<T>(from: readonly T[]): T;
  bytes(length: number): Buffer;
};

/** mulberry32: small, and good enough to choose requests with. */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  }
  const below = (limit: number) => Math.floor(next() * limit);
  return {
    next,
    below,
    pick: (from) => from[below(from.length)] as (typeof from)[number],
    bytes: (length) => Buffer.from(Array.from({ length }, () => below(256))),
  };
}
