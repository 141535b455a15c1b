// The type of a signal; signals.ts has the table.

import type { evidenceModes } from "../contract/traffic.ts";
import type { Network } from "./networks/networks.ts";
import type { Observation } from "./observation.ts";
import type { UserAgentEvidence } from "./userAgent/userAgent.ts";
import type { Claims } from "./userAgent/claims.ts";

export type Category =
  | "user agent"
  | "automation"
  | "contradiction"
  | "headers"
  | "connection"
  | "network"
  | "velocity"
  | "click id"
  | "behaviour"
  | "pointer"
  | "typing"
  | "window"
  | "volume"
  | "engagement"
  | "form"
  | "cookie"
  | "tag"
  | "trap";

export type EvidenceMode = (typeof evidenceModes)[number];

/** An observation with the evidence of its user agent and address. */
export type SignalInput = Observation & {
  agent: UserAgentEvidence | null;
  claims: Claims;
  network: Network | null;
};

export type Signal = {
  category: Category;
  /** Bots are counted under category and name, so names never change. */
  name: string;
  points: number | "hard";
  /** Its mode on sites that have not chosen one; on by default. Evidence that was not measured on real visitors begins in shadow. */
  mode?: EvidenceMode;
  /** Many people share this evidence with others: its points count only beside two other categories. */
  isShared?: true;
  /** Explains why this is evidence of a bot. */
  why: string;
  /** The source that contradicts the user agent. */
  source?: "client hints" | "script" | "hints and script" | "form factor";
  /** Returns the evidence in a few words (may be empty); null when the signal does not apply. */
  find(seen: SignalInput): string | null;
};
