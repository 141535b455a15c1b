// Scripted faults. A fault is used up by the calls that it hits, or hits each call with a probability until it is cleared.
// The random numbers are seeded, so that a long run can be repeated exactly.

import { seededRandom } from "./seededRandom.ts";
import { routeKinds, type RouteKind } from "./standin.ts";

const faultKinds = [
  "throttle", // the platform's own response for too many requests
  "server_error", // 5xx in the platform's own format
  "slow", // the usual response, late
  "reset", // the connection is cut before the call was processed
  "answer_lost", // the connection is cut after the call was processed
  "expired_token", // as if the token had expired
  "revoked_token", // as if the customer had revoked the permission
  "malformed_json", // 200 with half a document
  "html", // the error page of a proxy
  "documented", // one of the stand-in's documented errors, by its title
] as const;
type FaultKind = (typeof faultKinds)[number];

export type Fault = {
  kind: FaultKind;
  /** The kind of calls that it hits; `events` by default. */
  on?: RouteKind;
  /** The number of calls that it hits: one by default, unlimited with a probability. */
  times?: number;
  /** Hits each call with this probability, from 0 to 1. */
  probability?: number;
  /** Seeds the random numbers. */
  seed?: number;
  /** Delays the response; 1000 by default for `slow`. */
  ms?: number;
  /** The status of `server_error` (500) and of `html` (502). */
  status?: number;
  retryAfterSeconds?: number;
  /** The title of a `documented` error. */
  title?: string;
  /** Processes the call although the response does not show it. True by default for `slow` and `answer_lost` only. */
  processed?: boolean;
};

export type FaultPlan = {
  add(script: Fault | readonly Fault[]): void;
  /** Takes the fault that hits this call, if any. */
  next(kind: RouteKind): Fault | null;
  clear(): void;
};

export function createFaultPlan(): FaultPlan {
  let planned: { fault: Fault; left: number; random: () => number }[] = [];
  return {
    add(script) {
      for (const fault of Array.isArray(script) ? (script as Fault[]) : [script as Fault])
        planned.push({
          fault,
          left: fault.times ?? (fault.probability === undefined ? 1 : Infinity),
          random: seededRandom(fault.seed ?? 1),
        });
    },
    next(kind) {
      const hit = planned.find(
        ({ fault, random }) =>
          (fault.on ?? "events") === kind && (fault.probability === undefined || random() < fault.probability),
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

/** True when the call reaches the platform's handler in spite of the fault. */
export function isProcessed(fault: Fault): boolean {
  return fault.processed ?? (fault.kind === "slow" || fault.kind === "answer_lost");
}

/** Reads a script from another process; returns a message when it is invalid. */
export function readFaults(script: unknown): Fault[] | string {
  const faults: unknown[] = Array.isArray(script) ? script : [script];
  for (const fault of faults) {
    if (typeof fault !== "object" || fault === null) return 'a fault is an object like {"kind":"throttle"}';
    const { kind, on, processed, title, ...numbers } = fault as Record<string, unknown>;
    if (!faultKinds.includes(kind as FaultKind)) return `kind must be one of ${faultKinds.join(", ")}`;
    if (on !== undefined && !routeKinds.includes(on as RouteKind)) return `on must be one of ${routeKinds.join(", ")}`;
    if ((kind === "documented") !== (typeof title === "string")) return "title must be the title of a documented error";
    if (processed !== undefined && typeof processed !== "boolean") return "processed must be true or false";
    for (const [name, value] of Object.entries(numbers)) {
      if (!["times", "probability", "seed", "ms", "status", "retryAfterSeconds"].includes(name))
        return `${name} is not a part of a fault`;
      if (typeof value !== "number" || !Number.isFinite(value) || value < 0) return `${name} must be a number from 0`;
    }
  }
  return faults as Fault[];
}
