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

/** At these steps bots are left out, and orders that cannot apply to the platform: nothing to repair. */
export const leavesOut = (step: FunnelStep["step"]) => step === "not filtered" || step === "due";

/** The steps that differ between connections; those before are the same for all. */
export const ownSteps = [
  { step: "attributed", wide: true },
  { step: "due", wide: true },
  { step: "accepted", wide: false },
  { step: "confirmed", wide: false },
] as const;

/** Of the losses at the platform: those before it are the same for all connections. What cannot apply there comes last. */
export function findLargestLoss(funnel: readonly FunnelStep[]) {
  const own = funnel.filter(({ step, narrows }) => narrows && ownSteps.some((one) => one.step === step));
  return own
    .flatMap((step) => step.losses.map((loss) => ({ step, loss })))
    .toSorted(
      (one, other) => Number(leavesOut(one.step.step)) - Number(leavesOut(other.step.step)) || other.loss.count - one.loss.count,
    )[0];
}

/** Where most orders are missing: a low share may be a few orders of a platform that takes few. */
export function largestGapAt<Of extends Pick<ConnectionReport, "accepted" | "deliverable" | "failed">>(
  connections: readonly Of[],
): Of | undefined {
  const missing = ({ accepted, deliverable }: Of) => deliverable - accepted;
  return connections
    .filter(({ deliverable }) => deliverable > 0)
    .toSorted((one, other) => missing(other) - missing(one) || other.failed - one.failed)[0];
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
  to: `/sites/${site}/reconciliation/funnel`,
  search: { run, connection },
});
