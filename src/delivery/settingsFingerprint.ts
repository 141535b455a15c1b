// Identifies the settings of a connection and the version of the relay, which together decide how a request is made. With the
// same mark today, the trace makes the same request from the event again.

import { hash } from "node:crypto";
import { platformOf } from "../platforms/index.ts";
import type { Connection } from "../sites/directory.ts";

const marks = new WeakMap<Connection, string>();

/** 36 bits are enough to tell a few versions of one connection apart. Secrets do not show in a stored request. */
export function settingsFingerprint(connection: Connection, version: string): string {
  let mark = marks.get(connection);
  if (mark === undefined) {
    const fields = platformOf(connection.platform)?.settings ?? [];
    const isSecret = (name: string) => name.endsWith("_token") || fields.some((field) => field.name === name && field.secret);
    const shown = Object.entries(connection.settings).filter(([name]) => !isSecret(name) && name !== "expires_at");
    const text = JSON.stringify([version, shown.toSorted(([one], [other]) => (one < other ? -1 : 1))]);
    marks.set(connection, (mark = hash("sha256", text, "base64url").slice(0, 6)));
  }
  return mark;
}
