import { commonText } from "../../messages/common.ts";
import { queryClient, send } from "../api/query.ts";
import { notify } from "../notices.tsx";

/** Returns what sets settings back. A webhook URL is never shown in full, so its change cannot be undone. */
export function undoOf(site: string, before: Record<string, string>): (() => void) | undefined {
  if ("alert_webhook" in before) return undefined;
  return () =>
    void send("PATCH /sites/:site/settings", { params: { site }, body: { settings: before } })
      .then(() => notify(commonText.undone))
      .catch((error: unknown) => notify(error instanceof Error ? error.message : commonText.couldNotUndo))
      .finally(() => void queryClient.invalidateQueries());
}
