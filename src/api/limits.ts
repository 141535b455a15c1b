import { hash } from "node:crypto";
import { minuteMs } from "../kernel/time.ts";
import { countTry } from "../access/rateCounters.ts";
import type { ApiParts } from "./context.ts";

const windowMs = 15 * minuteMs;

/** Test messages go out to others, in the operator's name: so many of a site in a quarter of an hour, from all nodes. */
export function countTest(
  { store, now }: ApiParts,
  siteId: string,
  kind: string,
  most: number,
): Promise<void> {
  const key = hash("sha256", `test ${kind} ${siteId}`, "base64url");
  return countTry(store, [{ key, max: most, windowMs }], now());
}
