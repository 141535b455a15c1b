// Random values of a seed. Each concern draws from a stream of its own, so that a change of one leaves the others as they were.

import { seededRandom } from "../../../standins/shared/seededRandom.ts";

export class Random {
  readonly #seed: string;
  readonly #next: () => number;

  constructor(seed: string) {
    this.#seed = seed;
    this.#next = seededRandom(hashText(seed));
  }

  /** Returns an independent stream. */
  stream(name: string): Random {
    return new Random(`${this.#seed} ${name}`);
  }

  /** From 0 to below 1. */
  next(): number {
    return this.#next();
  }

  /** A whole number from 0 to below `limit`. */
  below(limit: number): number {
    return Math.floor(this.#next() * limit);
  }

  between(from: number, to: number): number {
    return from + this.#next() * (to - from);
  }

  chance(probability: number): boolean {
    return this.#next() < probability;
  }

  pick<T>(from: readonly T[]): T {
    return from[this.below(from.length)] as T;
  }

  fillBytes(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; at++) bytes[at] = this.below(256);
  }
}

/** FNV-1a, 32 bits. */
function hashText(text: string): number {
  let mixed = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) mixed = Math.imul(mixed ^ text.charCodeAt(at), 0x01000193);
  return mixed >>> 0;
}
