// The report of a reconciliation, as the API answers it, with the words of its classes and steps.

import type { Answer } from "../../common/api/api.ts";

export type Report = Answer<"GET /sites/:site/reconciliations/:run">["reconciliation"];
export type ConnectionReport = Report["connections"][number];
export type FunnelStep = ConnectionReport["funnel"][number];
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

/** The page with the rows of a number. */
export const rowsPage = (site: string, run: string, filter: Record<string, unknown>) => ({
  to: `/sites/${site}/reconciliation/rows`,
  search: {
    run,
    ...Object.fromEntries(Object.entries(filter).map(([name, value]) => [name, String(value)])),
  },
});
