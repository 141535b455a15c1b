export const matchKeys = ["email", "phone", "name", "click id", "browser id", "address and user agent"] as const;
/** The data by which platforms find the person or the click of a conversion. */
export type MatchKey = (typeof matchKeys)[number];

/** What a platform itself says of the quality of the events that it received, of one kind. */
export type QualityReport = {
  /** The platform's name of the event; empty for all events. */
  event: string;
  /** By the platform's own scale; null where it gives a word instead, or nothing. */
  score: number | null;
  maxScore: number | null;
  /** In the platform's own words: GOOD. */
  rating: string | null;
  /** The platform's names of match keys, and the share of events that had each, from 0 to 1. */
  keys: { key: string; coverage: number }[];
  /** Recommendations and problems, in the platform's own words. */
  notes: string[];
};
