// Random values from a seed, so that every demo looks the same.

import { seededRandom } from "../../standins/shared/seededRandom.ts";

export type Random = {
  /** From 0 (inclusive) to 1 (exclusive). */
  number(): number;
  integer(min: number, max: number): number;
  /** Returns true with this probability. */
  chance(probability: number): boolean;
  pick<T>(list: readonly T[]): T;
  /** Picks by weight. */
  pickWeighted<T extends { weight: number }>(list: readonly T[]): T;
  /** Draws a count with this mean. */
  poisson(expected: number): number;
  text(letters: string, length: number): string;
};

export const hex = "0123456789abcdef";
export const alphanumeric = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

export function createRandom(seed: number): Random {
  const number = seededRandom(seed);
  const integer = (min: number, max: number) => min + Math.floor(number() * (max - min + 1));

  return {
    number,
    integer,
    chance: (probability) => number() < probability,
    pick: (list) => list[integer(0, list.length - 1)] as (typeof list)[number],
    pickWeighted(list) {
      const sum = list.reduce((total, { weight }) => total + weight, 0);
      let left = number() * sum;
      for (const one of list) {
        left -= one.weight;
        if (left < 0) return one;
      }
      return list.at(-1) as (typeof list)[number];
    },
    poisson(expected) {
      // A rough approximation is enough for large numbers.
      if (expected > 60) return Math.round(expected * (0.9 + 0.2 * number()));
      const limit = Math.exp(-expected);
      let count = 0;
      for (let product = number(); product > limit; product *= number()) count += 1;
      return count;
    },
    text: (letters, length) => Array.from({ length }, () => letters[integer(0, letters.length - 1)]).join(""),
  };
}

export function uuidFrom(random: Random): string {
  const part = (length: number) => random.text(hex, length);
  return `${part(8)}-${part(4)}-4${part(3)}-a${part(3)}-${part(12)}`;
}
