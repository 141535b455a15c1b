// Asks for what the overview shows, while its code is being loaded: on a slow line that is a second of waiting less.

import { askEarly } from "../../common/api/query.ts";
import type { Input } from "../../common/api/api.ts";
import { defaultPeriod, periodOf, type ChosenPeriod } from "./periods.ts";
import type { Segment } from "./segments.ts";

type Shown = { period: ChosenPeriod; segment: Segment | null; model: "last" | "first" | "linear" };

export const statisticsInput = (
  site: string,
  { period, segment, model }: Shown,
  timeZone: string | undefined,
  now: number,
): Input<"GET /sites/:site/statistics"> => ({
  params: { site },
  query: { ...periodOf(period, timeZone, now), ...(segment ? { [segment.kind]: segment.name } : {}), model },
});

export const feedLength = 10;

export const newestEvents = (site: string, mode: "live" | "test"): Input<"GET /sites/:site/events"> => ({
  params: { site },
  query: { mode, limit: feedLength },
});

/** Any page shows the sites. An overview of other days asks for its figures itself. */
export async function askForOverview({ pathname, search }: Location): Promise<void> {
  const [, site] = /^\/dashboard\/sites\/([\w-]+)\/overview$/.exec(pathname) ?? [];
  const sites = askEarly("GET /sites", {});
  if (site === undefined || search !== "") return;
  void askEarly("GET /sites/:site/checklist", { params: { site } });
  void askEarly("GET /sites/:site/events", newestEvents(site, "live"));
  const timeZone = (await sites)?.items.find(({ id }) => id === site)?.timeZone;
  const shown = { period: defaultPeriod, segment: null, model: "last" } as const;
  if (timeZone !== undefined) void askEarly("GET /sites/:site/statistics", statisticsInput(site, shown, timeZone, Date.now()));
}
