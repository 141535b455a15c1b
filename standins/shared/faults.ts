// Scripted trouble. A fault is used up by the calls that it hits, or hits each call with a probability until it is
// cleared; the dice are seeded, so that a long run can be repeated exactly.

import { routeKinds, type RouteKind } from "./standin.ts";

export const faultKinds = [
  "throttle", // the platform's own words for "too many requests"
  "server_error", // 5xx in the platform's own shape
  "slow", // the usual answer, late
  "reset", // the connection is cut, nothing was taken
  "answer_lost", // the connection is cut after the call was taken
  "expired_token", // as if the token had run out
  "revoked_token", // as if the customer had taken the permission back
  "malformed_json", // 200, and half a document
  "html", // an error page of something in front of the platform
] as const;
export type FaultKind = (typeof faultKinds)[number];

export type Fault = {
  kind: FaultKind;
  /** Which calls it hits; those that bring events unless said otherwise. */
  on?: RouteKind;
  /** How many calls it hits: one, or without end when there is a probability. */
  times?: number;
  /** Hits each call with this probability, from 0 to 1. */
  probability?: number;
  /** Of the dice. */
  seed?: number;
  /** Delays the answer; for `slow` 1000 unless given. */
  ms?: number;
  /** The status of `server_error` (500) and of `html` (502). */
  status?: number;
  retryAfterSeconds?: number;
  /** Whether the call is taken although the answer says nothing of it. Only `slow` and `answer_lost` take it by themselves. */
  processed?: boolean;
};

export type FaultPlan = {
  add(script: Fault | readonly Fault[]): void;
  /** The fault that hits this call, used up by one. */
  next(kind: RouteKind): Fault | null;
  clear(): void;
};

export function createFaultPlan(): FaultPlan {
  let planned: { fault: Fault; left: number; dice: () => number }[] = [];
  return {
    add(script) {
      for (const fault of Array.isArray(script) ? (script as Fault[]) : [script as Fault])
        planned.push({
          fault,
          left: fault.times ?? (fault.probability === undefined ? 1 : Infinity),
          dice: seededDice(fault.seed ?? 1),
        });
    },
    next(kind) {
      const hit = planned.find(
        ({ fault, dice }) =>
          (fault.on ?? "events") === kind && (fault.probability === undefined || dice() < fault.probability),
      );
      if (!hit) return null;
      hit.left -= 1;
      if (hit.left <= 0) planned = planned.filter((one) => one !== hit);
      return hit.fault;
    },
    clear() {
      planned = [];
    },
  };
}

/** Whether the call reaches the platform's handler in spite of the fault. */
export function isProcessed(fault: Fault): boolean {
  return fault.processed ?? (fault.kind === "slow" || fault.kind === "answer_lost");
}

/** A script from the outside; a sentence when it is none. */
export function readFaults(script: unknown): Fault[] | string {
  const faults: unknown[] = Array.isArray(script) ? script : [script];
  for (const fault of faults) {
    if (typeof fault !== "object" || fault === null) return 'a fault is an object like {"kind":"throttle"}';
    const { kind, on, processed, ...numbers } = fault as Record<string, unknown>;
    if (!faultKinds.includes(kind as FaultKind)) return `kind must be one of ${faultKinds.join(", ")}`;
    if (on !== undefined && !routeKinds.includes(on as RouteKind))
      return `on must be one of ${routeKinds.join(", ")}`;
    if (processed !== undefined && typeof processed !== "boolean") return "processed must be true or false";
    for (const [name, value] of Object.entries(numbers)) {
      if (!["times", "probability", "seed", "ms", "status", "retryAfterSeconds"].includes(name))
        return `${name} is not a part of a fault`;
      if (typeof value !== "number" || !Number.isFinite(value) || value < 0)
        return `${name} must be a number from 0`;
    }
  }
  return faults as Fault[];
}

/** mulberry32: small, and the same on every machine. */
function seededDice(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
