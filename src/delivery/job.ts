import type { Conversion } from "../kernel/event.ts";
import type { Ownership } from "./ownership.ts";

/** One attempt to be made of a delivery. */
export type Job = {
  siteId: string;
  eventId: string;
  connectionId: string;
  conversion: Conversion;
  /** A time before its person's consent was read for it, by the wall clock; Infinity where nothing of a person is in it. */
  lookedAt: number;
  /** Attempts made before this one. */
  attemptsMade: number;
  expiresAt: number;
  ownership: Ownership;
  /** A first attempt of a backfill, which live events overtake. */
  isBackfill?: boolean;
  /** The reason of its row, where something else than an attempt has queued it: kept until it is attempted. */
  queuedFor?: string | null;
};
