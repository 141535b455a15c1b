import { SaveBar as Bar } from "../../common/forms/SaveBar.tsx";
import { otherError } from "../../common/forms/faults.ts";
import type { Draft } from "./draft.ts";
import type { Kind } from "./kinds.ts";

/** Shown while there are unsaved changes. */
export function SaveBar({ draft, kind }: { draft: Draft; kind: Kind }) {
  if (!draft.isChanged) return null;
  const error = otherError(draft.error, "name", ...kind.settings.map(({ name }) => name));
  return <Bar error={error} isPending={draft.isBusy} onDiscard={draft.discard} />;
}
