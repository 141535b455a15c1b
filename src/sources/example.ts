// An example of a request and what becomes of it. Examples are tests and documentation; the relay imports none.

import type { Mapped, Outcome } from "./run.ts";

export type Example = {
  name: string;
  /** In lower case; the content type is the usual one without it. */
  headers?: Readonly<Record<string, string>>;
  /** Settings of the source that differ from the defaults. */
  settings?: Readonly<Record<string, string>>;
  /** JSON is written as an object. */
  body: unknown;
  outcomes: readonly (Partial<Omit<Mapped, "is">> & { is: Outcome["is"]; reason?: string })[];
};
