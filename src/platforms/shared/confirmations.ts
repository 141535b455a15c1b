// Confirmations of platforms that answer with counts by reason and name no conversion. A conversion is confirmed or not counted
// only where all that were asked for together are; otherwise it is unknown, and the detail has the counts.

import type { Confirmation, ConfirmationReason, ConfirmationState, CountedAs } from "../../kernel/confirmation.ts";
import type { ConfirmationReading } from "../platform.ts";
import { shorten } from "./response.ts";

/** What is said of every conversion alike, and what the platform counted where that differs. */
export type Decided = { common: Confirmation; tally?: CountedAs[] };

/** `code` is the platform's own name of the reason. */
export type ReasonCount = { code: string; reason: ConfirmationReason; count: number };

/** Null: the platform has not decided yet. */
export const answered = (decided: Decided | null, conversions: number): ConfirmationReading => ({
  kind: "answered",
  confirmations: Array.from({ length: conversions }, () => decided?.common ?? null),
  ...(decided?.tally ? { tally: decided.tally } : {}),
});

export const undecidable = (detail: string): Decided => ({
  common: { state: "unknown", reason: "other", detail },
});

/** A reason that is not known says nothing of the conversion, and one that the platform has already is counted. */
const stateOf = (reason: ConfirmationReason): ConfirmationState =>
  reason === "duplicate" ? "confirmed" : reason === "other" ? "unknown" : "not counted";

const temporary: ReadonlySet<ConfirmationReason> = new Set(["click too new", "platform error"]);

export const describeCounts = (errors: readonly ReasonCount[], total: number) =>
  shorten(errors.map(({ code, count }) => `${count} of ${total}: ${code}`).join(", "));

/** Of `total` conversions `counted` count, and the others are in `errors`. `conversions` is the number that was asked for. */
export function combineCounts(
  errors: readonly ReasonCount[],
  { counted, total, conversions }: { counted: number; total: number; conversions: number },
): Decided {
  if (errors.length === 0) return { common: { state: "confirmed", reason: null, detail: null } };
  const states = new Set(errors.map(({ reason }) => stateOf(reason)));
  if (counted > 0) states.add("confirmed");
  const given = new Set(errors.map(({ reason }) => reason));
  const isOne = given.size === 1 && (counted === 0 || given.has("duplicate"));
  const [reason = null] = isOne ? given : ["several reasons" as const];
  const [state = "unknown"] = states.size === 1 ? states : ["unknown" as const];
  const isTemporary = state !== "confirmed" && errors.some(({ reason: one }) => temporary.has(one));
  const detail = describeCounts(errors, total);
  const common: Confirmation = { state, reason, detail, ...(isTemporary ? { isTemporary } : {}) };
  // The counts are those of our conversions only where the platform counted as many.
  const isMixed = reason === "several reasons" && total === conversions;
  return { common, ...(isMixed ? { tally: toTally(errors, counted) } : {}) };
}

function toTally(errors: readonly ReasonCount[], counted: number): CountedAs[] {
  const groups = [
    ...errors.map(({ reason, count }) => ({ state: stateOf(reason), reason, count })),
    { state: "confirmed" as const, reason: null, count: counted },
  ];
  return groups.flatMap(({ state, reason, count }) => Array.from({ length: count }, () => ({ state, reason })));
}

/** Counts often arrive as texts. Returns null for anything else than a whole number. */
export function readCount(value: unknown): number | null {
  const isCount = /^\d{1,15}$/.test(String(value)) && (typeof value === "string" || typeof value === "number");
  return isCount ? Number(value) : null;
}
