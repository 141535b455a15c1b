// What all fields of an event have in common: the fault that names one, and the rules for texts.

import { say, withoutMarks } from "../kernel/messages/message.ts";
import { Fault } from "../kernel/refusal.ts";

export class FieldFault extends Fault {}

/** Above any price, and small enough that sums stay exact. */
export const maxValue = 1_000_000_000_000;

export function isAbsent(value: unknown): boolean {
  return value === undefined || value === null || (typeof value === "string" && withoutMarks(value).trim() === "");
}

export function checkText(name: string, value: unknown, limit: number): string {
  if (typeof value !== "string") throw new FieldFault(say("field_not_a_string", { field: name }));
  // Characters, not UTF-16 units: counted only where the two can differ.
  if (value.length > limit && (value.length > limit * 2 || Array.from(value).length > limit)) {
    throw new FieldFault(say("field_too_long", { field: name, max: limit }));
  }
  if (value.includes("\0") || !value.isWellFormed()) {
    throw new FieldFault(say("field_not_storable", { field: name }));
  }
  return withoutMarks(value);
}
