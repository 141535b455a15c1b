// The statistics of the overview, and the filters of their rows.

import { useComputedColorScheme } from "@mantine/core";
import { useInterval } from "@mantine/hooks";
import { useEffect, useState } from "react";
import type { Answer } from "../../common/api/api.ts";
import { useApi } from "../../common/api/query.ts";
import { rangeOf, type RangeName } from "../../common/format/ranges.ts";

export type Statistics = Answer<"GET /sites/:site/statistics">;
export type DeliveryState = keyof Statistics["platforms"][number]["states"];

export function useStatistics(site: string, range: RangeName, timeZone: string | undefined) {
  const [now, setNow] = useState(Date.now);
  const tick = useInterval(() => setNow(Date.now()), 60_000);
  useEffect(() => {
    tick.start();
    return tick.stop;
  }, [tick]);
  return useApi(
    "GET /sites/:site/statistics",
    { params: { site }, query: rangeOf(range, timeZone, now) },
    { keepPrevious: true, everyMs: 60_000, enabled: timeZone !== undefined },
  );
}

/** Returns the filters that list the events that were counted as conversions. */
export const conversionsIn = ({ from, to }: Statistics) => ({ from, to, status: "accepted", mode: "live" });
export const filteredIn = ({ from, to }: Statistics) => ({ from, to, status: "filtered", mode: "live" });

/** Returns the end of a step: the start of the next one, or the end of the period. */
export function endOfStep({ steps, to }: Statistics, startsAt: number): number {
  return steps.find((one) => one.startsAt > startsAt)?.startsAt ?? to;
}

export const sumOf = (states: Partial<Record<DeliveryState, number>>, without: DeliveryState[] = []) =>
  Object.entries(states)
    .filter(([state]) => !without.includes(state as DeliveryState))
    .reduce((sum, [, n]) => sum + n, 0);

/** Colours for the canvas, which cannot use variables of the style sheet. */
export function useChartColours(): { accent: string; quiet: string } {
  const isDark = useComputedColorScheme() === "dark";
  return isDark ? { accent: "#6a7bda", quiet: "#6e7781" } : { accent: "#5668d5", quiet: "#a9b0b8" };
}
