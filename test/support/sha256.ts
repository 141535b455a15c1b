// Hashes for tests, written down as text. The relay itself makes them in src/identity/person.ts alone.

import type { Sha256 } from "../../src/kernel/event.ts";

export const sha256 = (hex: string) => hex as Sha256;
