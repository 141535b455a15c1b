// Corrections as the trace, the API and the command line show them.

import type { NewCorrection } from "../../store/corrections/corrections.ts";

type ShownCorrection = Pick<NewCorrection, "state" | "value" | "reason" | "source" | "updatedAt">;

export const toCorrection = ({ state, value, reason, source, updatedAt }: NewCorrection): ShownCorrection => ({
  state,
  value,
  reason,
  source,
  updatedAt,
});

/** One line of text. */
export function describeCorrection({ state, value, reason }: ShownCorrection): string {
  const left =
    state === "cannot be taken back" || state === "nothing to correct" ? "" : ` ${state === "applied" ? "as" : "to"} ${value}`;
  return `${state === "applied" ? "sent" : state}${left}${reason ? `: ${reason}` : ""}`;
}
