// The report of a reconciliation, as the API answers it, with the words of its classes and steps.

import { noReason } from "../../../src/kernel/reconciliation.ts";
import type { Answer } from "../../common/api/api.ts";
import { filterReasonText } from "../../common/format/reasons.ts";
import { reconciliationText } from "../../messages/reconciliation.ts";
import { commonText } from "../../messages/common.ts";
import { serverText } from "../../messages/server.ts";

export type Report = Answer<"GET /sites/:site/reconciliations/:run">["reconciliation"];
export type ConnectionReport = Report["connections"][number];
export type FunnelStep = ConnectionReport["funnel"][number];
export type Loss = FunnelStep["losses"][number];
export type RunLine = Answer<"GET /sites/:site/reconciliations">["items"][number];
export type RowClass = keyof Report["classes"];

/** The name of the platform; with the id of the connection where there are several. */
export function connectionName(
  all: readonly ConnectionReport[],
  { platform, connectionId }: Pick<ConnectionReport, "platform" | "connectionId">,
  platformName: (id: string) => string,
): string {
  const isOnly = all.filter((one) => one.platform === platform).length === 1;
  return isOnly ? platformName(platform) : `${platformName(platform)} (${connectionId})`;
}

/** Why orders were lost at a step. */
export function lossText({ reason, rows: { filtered, state, reason: ofState, confirmation, confirmationReason } }: Loss): string {
  if (filtered !== undefined) return filterReasonText({ code: filtered, detail: null });
  if (state !== undefined && ofState === noReason) return reconciliationText.states[state];
  if (confirmation !== undefined && confirmationReason !== undefined && confirmationReason !== noReason)
    return commonText.reasonDetail(serverText(confirmation), serverText(confirmationReason));
  return serverText(reason);
}

/** The page with the rows of a number; `from` is the page that it leads back to. */
export const rowsPage = (
  site: string,
  run: string,
  filter: Record<string, unknown>,
  from: "reconciliation" | "funnel" = "reconciliation",
) => ({
  to: `/sites/${site}/reconciliation/rows`,
  search: {
    run,
    ...Object.fromEntries(Object.entries(filter).map(([name, value]) => [name, String(value)])),
    ...(from === "funnel" && { from }),
  },
});

export const funnelPage = (site: string, run: string, connection: string) => ({
  to: `/sites/${site}/funnel`,
  search: { run, connection },
});
