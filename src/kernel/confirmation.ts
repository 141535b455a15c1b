// A confirmation is what a platform says later of a delivery that it accepted. Accepted means received: whether the conversion
// counts is decided minutes or hours afterwards.

export const confirmationStates = ["confirmed", "not counted", "unknown"] as const;
/** `unknown` also covers everything that was not answered, could not be read, or cannot be told for a single conversion. */
export type ConfirmationState = (typeof confirmationStates)[number];

export const confirmationReasons = [
  "duplicate",
  "click too new",
  "platform error",
  "no ad click",
  "consent",
  "too old",
  "bad id",
  "bad data",
  "settings",
  "other",
  "several reasons",
  "no answer",
] as const;
/**
 * One short list for all platforms. `duplicate`: the platform had the conversion already, so it is confirmed. `other`: a reason
 * that this version does not know. `several reasons`: the platform counts reasons and does not say which conversion has
 * which. `no answer`: it was asked until the age limit.
 */
export type ConfirmationReason = (typeof confirmationReasons)[number];

export type Confirmation = {
  state: ConfirmationState;
  /** Null where the conversion is confirmed and there is nothing to add. */
  reason: ConfirmationReason | null;
  /** The reason in the platform's own words; null where there are none. */
  detail: string | null;
  /** The same conversion may count when it is sent again later. */
  isTemporary?: true;
};

/** What a conversion is counted as in sums. */
export type CountedAs = Pick<Confirmation, "state" | "reason">;
