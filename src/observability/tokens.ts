import type { Connection } from "../sites/directory.ts";

/** When a connection's token ends for good; null where it is renewed, or not known to end. */
export function tokenEndOf({ settings }: Pick<Connection, "settings">): number | null {
  const end = Number(settings.expires_at ?? Number.NaN);
  return settings.refresh_token || !Number.isFinite(end) ? null : end;
}
