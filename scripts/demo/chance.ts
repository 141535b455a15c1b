// Chance with a seed: every demo looks the same.

export type Chance = {
  /** 0…1, never 1. */
  number(): number;
  whole(least: number, most: number): number;
  /** True with this probability. */
  happens(probability: number): boolean;
  oneOf<T>(list: readonly T[]): T;
  /** One of them, the heavier the likelier. */
  weighted<T extends { weight: number }>(list: readonly T[]): T;
  /** How often something happens that is expected so often. */
  poisson(expected: number): number;
  text(letters: string, length: number): string;
};

export const hex = "0123456789abcdef";
export const alphanumeric = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

export function chanceOf(seed: number): Chance {
  let state = seed >>> 0;

  /** Mulberry32: short, and good enough to draw a curve with. */
  function number(): number {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }
  const whole = (least: number, most: number) => least + Math.floor(number() * (most - least + 1));

  return {
    number,
    whole,
    happens: (probability) => number() < probability,
    oneOf: (list) => list[whole(0, list.length - 1)] as (typeof list)[number],
    weighted(list) {
      const sum = list.reduce((total, { weight }) => total + weight, 0);
      let left = number() * sum;
      for (const one of list) {
        left -= one.weight;
        if (left < 0) return one;
      }
      return list.at(-1) as (typeof list)[number];
    },
    poisson(expected) {
      // Large numbers are near enough to what is expected.
      if (expected > 60) return Math.round(expected * (0.9 + 0.2 * number()));
      const limit = Math.exp(-expected);
      let count = 0;
      for (let product = number(); product > limit; product *= number()) count += 1;
      return count;
    },
    text: (letters, length) => Array.from({ length }, () => letters[whole(0, letters.length - 1)]).join(""),
  };
}

export function uuidFrom(chance: Chance): string {
  const part = (length: number) => chance.text(hex, length);
  return `${part(8)}-${part(4)}-4${part(3)}-a${part(3)}-${part(12)}`;
}
