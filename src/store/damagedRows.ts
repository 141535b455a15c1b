// Reads values that may be damaged: by a failing disk, by a change made by hand, or by a program that has no encryption key. One
// damaged row must not keep the rest of the installation from being read, so a reader returns null and does not throw.

import { say } from "../kernel/messages/message.ts";
import { tryUnseal, type Seal } from "./engine/seal.ts";

/** Reads a JSON object; null where the text is something else. */
export function readObject(text: string): Record<string, unknown> | null {
  const value = tryParse(text);
  return isObject(value) ? value : null;
}

/** Reads a JSON list; an empty one where the text is something else. */
export function readList(text: string): unknown[] {
  const value = tryParse(text);
  return Array.isArray(value) ? value : [];
}

/** Opens a sealed JSON object; null where it cannot be decrypted, or is something else. */
export function unsealObject(seal: Seal, sealed: string, place: string): Record<string, unknown> | null {
  const plain = tryUnseal(seal, sealed, place);
  return plain === null ? null : readObject(plain);
}

/** Returns null where `read` throws. */
export function tryRead<T>(read: () => T): T | null {
  try {
    return read();
  } catch {
    return null;
  }
}

/** Returns undefined where the text is not JSON. */
export function tryParse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The alerts about rows that only the code which reads them finds. The checks for alerts find those of the configuration. */
export const damageFindings = {
  events: {
    kind: "damaged data",
    subject: "events",
    text: say("alert_events_unreadable"),
  },
  botVisits: {
    kind: "damaged data",
    subject: "bot visits",
    text: say("alert_bot_visits_unreadable"),
  },
} as const;
