// The examples of every platform, for tests, scripts and the documentation.

import type { PlatformExamples } from "./example.ts";
import { platforms } from "./index.ts";

const byId = new Map(
  await Promise.all(platforms.map(async ({ id }) => [id, (await import(`./${id}/examples.ts`)) as PlatformExamples] as const)),
);

export function examplesOf(id: string): PlatformExamples {
  const found = byId.get(id);
  if (!found) throw new Error(`There is no platform ${id}.`);
  return found;
}

/** The settings of a platform's first example. */
export const exampleSettings = (id: string) => examplesOf(id).examples[0]?.settings ?? {};
