// The numbers of the overview, and the rows behind them.

import { useComputedColorScheme } from "@mantine/core";
import { useInterval } from "@mantine/hooks";
import { useEffect, useState } from "react";
import type { Answer } from "../../common/api.ts";
import { rangeOf, type RangeName } from "../../common/RangePicker.tsx";
import { useApi } from "../../common/query.ts";

export type Statistics = Answer<"GET /sites/:site/statistics">;
export type DeliveryState = keyof Statistics["platforms"][number]["states"];

export function useStatistics(site: string, range: RangeName) {
  const [now, setNow] = useState(Date.now);
  const tick = useInterval(() => setNow(Date.now()), 60_000);
  useEffect(() => {
    tick.start();
    return tick.stop;
  }, [tick]);
  return useApi(
    "GET /sites/:site/statistics",
    { params: { site }, query: rangeOf(range, now) },
    { keep: true },
  );
}

/** Where a step ends: at the next one, or with the whole time. */
export function endOfStep({ steps, to }: Statistics, startsAt: number): number {
  return steps.find((one) => one.startsAt > startsAt)?.startsAt ?? to;
}

export const sumOf = (states: Partial<Record<DeliveryState, number>>, without: DeliveryState[] = []) =>
  Object.entries(states)
    .filter(([state]) => !without.includes(state as DeliveryState))
    .reduce((sum, [, n]) => sum + n, 0);

/** The largest first; they are never added together. */
export const bySize = (values: Statistics["totals"]["values"]) =>
  values.toSorted((one, other) => other.value - one.value);

/** A canvas knows no variables of the style sheet. */
export function useChartColours(): { accent: string; quiet: string } {
  const isDark = useComputedColorScheme() === "dark";
  return isDark ? { accent: "#6a7bda", quiet: "#6e7781" } : { accent: "#5668d5", quiet: "#a9b0b8" };
}
