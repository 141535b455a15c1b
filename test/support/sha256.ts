// Writes hashes as text in tests. The relay makes them only in src/identity/person.ts.

import type { Sha256 } from "../../src/kernel/event.ts";

export const sha256 = (hex: string) => hex as Sha256;
