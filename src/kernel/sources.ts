// The closed sets of words about requests of sources.

/** What became of a request, or of one of its entries. */
export const sourceOutcomes = ["accepted", "duplicate", "filtered", "learned", "ignored", "refused"] as const;

/** Why authentic content is no conversion. */
export const ignoreReasons = [
  "not used",
  "not chosen",
  "not paid",
  "no value",
  "test request",
  "repeats another event",
  "no person",
  "unknown customer",
  "unknown order",
  "needs a lookup",
  "wrong field",
  "too old",
  "unreadable body",
  "too many entries",
] as const;
