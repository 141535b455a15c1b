/** Lengths of time in milliseconds. Nothing is imported here: the dashboard's pages use this file too. */
export const secondMs = 1000;
export const minuteMs = 60 * secondMs;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

/** The clocks of two nodes may differ by this much. A node that is further off is not ready. */
export const maxSkewMs = 30 * secondMs;

/** A sender may report a conversion this long after it happened. */
export const maxEventAgeMs = 90 * dayMs;

/** Later times can only be mistakes. */
export const maxTime = Date.UTC(2200, 0);

/** From `from` on, and before `to`. */
export type Period = { from?: number | undefined; to?: number | undefined };

export const weekDays = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"] as const;
