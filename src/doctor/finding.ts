// What the doctor says: how bad it is, what it saw, and what to do about it.

import type { Config } from "../installation/config.ts";
import type { Directory, Site } from "../sites/directory.ts";
import type { Store } from "../store/store.ts";

export const levels = ["ok", "note", "warning", "error"] as const;
/** An error loses data, refuses events or lets somebody in; a warning will, or costs attribution; a note is for knowing. */
export type Level = (typeof levels)[number];

export type Finding = { level: Level; what: string; remedy?: string };

/** What can be looked at without the store: it may be the store that is ill. */
export type DoctorContext = { config: Config; now: number };

export type StoreContext = DoctorContext & { store: Store; directory: Directory };

export const ok = (what: string): Finding => ({ level: "ok", what });
export const note = (what: string, remedy: string): Finding => ({ level: "note", what, remedy });
export const warning = (what: string, remedy: string): Finding => ({ level: "warning", what, remedy });
export const error = (what: string, remedy: string): Finding => ({ level: "error", what, remedy });

/** How people call a site. */
export const nameOf = (site: Site) => site.hosts[0] ?? site.id;

/** `a, b, c and 4 more`: fifty sites with one default make one line. */
export function listNames(names: readonly string[], most = 3): string {
  const rest = names.length - most;
  return rest > 0 ? `${names.slice(0, most).join(", ")} and ${rest} more` : names.join(", ");
}

export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

export function timeText(ms: number): string {
  return new Date(ms).toISOString().replace("T", " ").slice(0, 16);
}

export function bytesText(bytes: number): string {
  return bytes >= 1e9 ? `${(bytes / 1e9).toFixed(1)} GB` : `${(bytes / 1e6).toFixed(1)} MB`;
}
