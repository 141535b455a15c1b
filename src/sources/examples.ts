// The examples of every kind of source, for tests and the documentation.

import type { Example } from "./example.ts";
import { kinds } from "./kinds/index.ts";

type ExampleFile = { examples: readonly Example[] };

const byId = new Map(
  await Promise.all(
    kinds.map(async ({ id }) => [id, ((await import(`./kinds/${id}/examples.ts`)) as ExampleFile).examples] as const),
  ),
);

export const examplesOf = (id: string): readonly Example[] => byId.get(id) ?? [];
