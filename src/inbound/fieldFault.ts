// What all fields of an event have in common: the fault that names one, and the rules for texts.

import { Fault } from "../kernel/refusal.ts";

export class FieldFault extends Fault {}

/** Above any price, and small enough that sums stay exact. */
export const maxValue = 1_000_000_000_000;

export function isAbsent(value: unknown): boolean {
  return value === undefined || value === null || (typeof value === "string" && value.trim() === "");
}

export function checkText(name: string, value: unknown, limit: number): string {
  if (typeof value !== "string") throw new FieldFault(`${name} must be a string`);
  // Characters, not UTF-16 units: counted only where the two can differ.
  if (value.length > limit && (value.length > limit * 2 || Array.from(value).length > limit)) {
    throw new FieldFault(`${name} is longer than ${limit} characters`);
  }
  if (value.includes("\0") || !value.isWellFormed()) {
    throw new FieldFault(`${name} contains a character that cannot be stored (NUL or half of a surrogate pair)`);
  }
  return value;
}
