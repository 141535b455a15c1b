/**
 * A correction restates the value of a conversion that a platform accepted, or takes it back, because its order was refunded or
 * cancelled. `waiting`: it is sent when it is due. `applied`: the conversion was still to be sent, or is sent again, and carries the
 * value itself. `nothing to correct`: the platform does not have the conversion, or did not count it. `cannot be taken back`: the
 * platform has no way, or not for this conversion.
 */
export const correctionStates = [
  "waiting",
  "corrected",
  "applied",
  "nothing to correct",
  "rejected",
  "cannot be taken back",
] as const;
export type CorrectionState = (typeof correctionStates)[number];

/** The source of a correction that the customer's own list led to. */
export const orderListSource = "order list";

/** The reason of a delivery of which nothing is left to send. */
export const refundedReason = "order refunded";
