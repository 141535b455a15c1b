/** The states of a backfill. */
export const backfillStates = ["running", "done", "cancelled"] as const;
export type BackfillState = (typeof backfillStates)[number];

/** The longest period of a backfill: events are kept no longer. */
export const maxBackfillDays = 400;

/** Conversions per minute that a backfill sends, and the highest pace that can be chosen. */
export const defaultBackfillPace = 600;
export const maxBackfillPace = 6000;
