// Inbound keys, `cc_` or `cc_test_`, and API keys, `ccm_`: 32 random characters, 6 of checksum. Only the SHA-256 of a
// key is stored, and keys are looked up by that hash, so that the response time reveals nothing about a guess.

import { hash } from "node:crypto";
import { crc32 } from "node:zlib";
import type { Mode } from "../kernel/event.ts";
import { randomBase62, toBase62 } from "../kernel/ids.ts";
import { say } from "../kernel/messages/message.ts";

const forms: Record<Mode | "API", string> = { live: "cc_", test: "cc_test_", API: "ccm_" };
const pattern = /^(cc_test_|cc_|ccm_)([0-9A-Za-z]{32})([0-9A-Za-z]{6})$/;

/** Length of the part that is stored in plain text, so that people can tell keys apart. */
const prefixLength = 8;

export type NewKey = { key: string; hash: string; prefix: string };

export function makeKey(kind: Mode | "API"): NewKey {
  const body = forms[kind] + randomBase62(32);
  const key = body + checksum(body);
  return { key, hash: hashKey(key), prefix: key.slice(0, prefixLength) };
}

/** Says in a sentence why a key that begins like this cannot be an inbound key of this mode; null where it can. */
export function keyFormFault(start: string, mode: Mode): string | null {
  if (start.startsWith(forms.API)) return say("key_form_api", { api: forms.API, inbound: forms.live });
  if (start.startsWith(forms.test) && mode !== "test") return say("key_form_test", { start: forms.test });
  return null;
}

export function hashKey(key: string): string {
  return hash("sha256", key);
}

/** The form by which secret scanners recognise a leaked key. The relay itself only looks up the hash. */
export function isWellFormed(key: string): boolean {
  const match = pattern.exec(key);
  return match !== null && checksum(key.slice(0, -6)) === match[3];
}

function checksum(body: string): string {
  return toBase62(crc32(body), 6);
}
