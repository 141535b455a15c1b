/**
 * A correction restates the value of a conversion that a platform accepted, or takes it back, because its order was refunded or
 * cancelled. `waiting`: it is sent when it is due. `cannot be taken back`: the platform has no way, or not for this conversion.
 */
export const correctionStates = ["waiting", "corrected", "rejected", "cannot be taken back"] as const;
export type CorrectionState = (typeof correctionStates)[number];
