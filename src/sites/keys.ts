// Inbound keys, `cc_` or `cc_test_`, and API keys, `ccm_`: 32 random characters, 6 of checksum. Only the SHA-256 of a
// key is stored, and a key is found by that hash: the time it takes says nothing about how much of a guess was right.

import { hash } from "node:crypto";
import { crc32 } from "node:zlib";
import type { Mode } from "../kernel/event.ts";
import { randomBase62, toBase62 } from "../kernel/ids.ts";

const forms: Record<Mode | "API", string> = { live: "cc_", test: "cc_test_", API: "ccm_" };
const pattern = /^(cc_test_|cc_|ccm_)([0-9A-Za-z]{32})([0-9A-Za-z]{6})$/;

/** How much of a key is kept in the clear, so that people can tell keys apart. */
const shown = 8;

export type NewKey = { key: string; hash: string; prefix: string };

export function makeKey(kind: Mode | "API"): NewKey {
  const body = forms[kind] + randomBase62(32);
  const key = body + checksum(body);
  return { key, hash: hashKey(key), prefix: key.slice(0, shown) };
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
