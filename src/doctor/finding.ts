// A finding of the doctor has a level, a problem and a remedy.

import type { Config } from "../installation/config.ts";
import { dayMs } from "../kernel/time.ts";
import type { Directory, Site } from "../sites/directory.ts";
import type { Store } from "../store/store.ts";

export const levels = ["ok", "note", "warning", "error"] as const;
/** An error loses data, refuses events or is a security hole; a warning may lead to an error, or costs attribution. */
export type Level = (typeof levels)[number];

export type Finding = { level: Level; what: string; remedy?: string };
export type Findings = Generator<Finding, void>;
export type AsyncFindings = AsyncGenerator<Finding, void>;

/** For checks that do not need the store. */
export type DoctorContext = { config: Config; now: number };

export type StoreContext = DoctorContext & { store: Store; directory: Directory };

export const ok = (what: string): Finding => ({ level: "ok", what });
export const note = (what: string, remedy: string): Finding => ({ level: "note", what, remedy });
export const warning = (what: string, remedy: string): Finding => ({ level: "warning", what, remedy });
export const error = (what: string, remedy: string): Finding => ({ level: "error", what, remedy });

/** Makes the findings of rows as far as their machine of the database answers. Returns false where it does not. */
export async function* whereReached(
  { store }: Pick<StoreContext, "store">,
  check: () => AsyncFindings,
): AsyncGenerator<Finding, boolean> {
  try {
    yield* check();
    return true;
  } catch (failure) {
    if (store.health.isMachineError(failure)) return false;
    throw failure;
  }
}

/** The name that people know a site by. */
export const nameOf = (site: Site) => site.hosts[0] ?? site.id;

/** Writes `a, b, c and 4 more`, so that a finding about fifty sites is one line. */
export function listNames(names: readonly string[], max = 3): string {
  const rest = names.length - max;
  return rest > 0 ? `${names.slice(0, max).join(", ")} and ${rest} more` : names.join(", ");
}

/** Certificates, keys and tokens that expire within this time are reported. */
export const soonMs = 14 * dayMs;

export function timeText(ms: number): string {
  return new Date(ms).toISOString().replace("T", " ").slice(0, 16);
}

export function bytesText(bytes: number): string {
  return bytes >= 1e9 ? `${(bytes / 1e9).toFixed(1)} GB` : `${(bytes / 1e6).toFixed(1)} MB`;
}
