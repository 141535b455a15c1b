// What a signal is: see signals.ts for the table of them.

import type { Network } from "./networks/networks.ts";
import type { Observation } from "./observation.ts";
import type { UserAgentEvidence } from "./userAgent/userAgent.ts";
import type { Claims } from "./userAgent/claims.ts";

export type Category =
  | "user agent"
  | "automation"
  | "contradiction"
  | "headers"
  | "network"
  | "velocity"
  | "click id"
  | "behaviour"
  | "tag"
  | "trap";

/** An observation, and what its user agent and address say. */
export type JudgedObservation = Observation & {
  agent: UserAgentEvidence | null;
  claims: Claims;
  network: Network | null;
};

export type Signal = {
  category: Category;
  /** With the category the name under which bots are counted: it stays as it is. */
  name: string;
  points: number | "hard";
  /** Why this speaks for a bot. */
  why: string;
  /** Whose word contradicts the user agent. */
  source?: "client hints" | "script" | "hints and script" | "form factor";
  /** What was seen, in a few words (empty where there is nothing to add); null when there is nothing to see. */
  find(seen: JudgedObservation): string | null;
};
