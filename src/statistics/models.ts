// Gives a conversion to the touches before it: all of it to the last or to the first one, or an equal part to each. The figures of
// sources and campaigns are those of the last touch; the other models are kept as what they move from there, so that every model
// has the same sum, and a conversion with one touch costs nothing.

import { isTouch } from "../identity/attribution.ts";
import { currencyDigits } from "../kernel/currency.ts";
import type { CountedEvent } from "../store/events/eventRow.ts";
import { nameCampaign, nameSource } from "./source.ts";

export const models = ["last", "first", "linear"] as const;
export type Model = (typeof models)[number];

/** Parts of one conversion. Every number of touches of a path divides it, so that counts stay whole. */
export const partsOfOne = 840;

/** How many parts of the conversion, and what part of its value, a model moves to a name. Negative where it takes it away. */
export type Move = { kind: `${Exclude<Model, "last">} ${"source" | "campaign"}`; name: string; parts: number; value: number };

type Touched = Pick<CountedEvent, "path" | "value" | "currency">;

/** `value` is 0 for a conversion whose value does not count. The last touch of each kind has it all so far. */
export function movesOf({ path, value, currency }: Touched): Move[] {
  const touches = path?.filter(isTouch) ?? [];
  if (touches.length < 2) return [];
  const names = { source: touches.map(nameSource), campaign: touches.map(nameCampaign) };
  return (["source", "campaign"] as const).flatMap((kind) => [
    ...movesTo(`first ${kind}`, names[kind], [partsOfOne], [value ?? 0]),
    ...movesTo(`linear ${kind}`, names[kind], splitParts(touches.length), splitMoney(value ?? 0, currency, touches.length)),
  ]);
}

/** The names have shares in their order; those without one have none, and the last one has had everything. */
function movesTo(kind: Move["kind"], names: readonly string[], parts: readonly number[], values: readonly number[]): Move[] {
  const last = names.at(-1);
  if (names.every((name) => name === last)) return [];
  const all = values.reduce((sum, value) => sum + value, 0);
  const moves = new Map<string, Move>([[last ?? "", { kind, name: last ?? "", parts: -partsOfOne, value: -all }]]);
  parts.forEach((some, i) => {
    const name = names[i] ?? "";
    const move = moves.get(name) ?? { kind, name, parts: 0, value: 0 };
    moves.set(name, { ...move, parts: move.parts + some, value: move.value + (values[i] ?? 0) });
  });
  return [...moves.values()];
}

const splitParts = (touches: number) => Array.from({ length: touches }, () => partsOfOne / touches);

/** Divides in whole cents, or what the currency has. What is left goes to the last. */
export function splitMoney(value: number, currency: string, count: number): number[] {
  const unit = 10 ** currencyDigits(currency);
  // No sum of money is as large: numbers of that size have no cents to divide.
  const share = value < maxDivided ? Math.floor((value * unit) / count + tolerance) / unit : 0;
  const rest = value - share * (count - 1);
  const last = value < maxDivided ? Math.round(rest * 10_000) / 10_000 : rest;
  return Array.from({ length: count }, (_, i) => (i === count - 1 ? last : share));
}

const maxDivided = 1e11;
/** 0.3 times 10 is a little less than 3. */
const tolerance = 1e-6;
