// Hashes for tests. The relay makes them only in src/identity/person.ts.

import { createHash } from "node:crypto";
import type { Sha256 } from "../../src/kernel/event.ts";

/** Gives a hash that is written as text its type. */
export const sha256 = (hex: string) => hex as Sha256;

/** Computes the hash of a text. */
export const sha256Of = (text: string) => sha256(createHash("sha256").update(text).digest("hex"));
