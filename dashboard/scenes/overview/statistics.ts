// The statistics of the overview, and the filters of their rows.

import { useInterval } from "@mantine/hooks";
import { useEffect, useState } from "react";
import { hourMs } from "../../../src/kernel/time.ts";
import type { Answer } from "../../common/api/api.ts";
import { useApi } from "../../common/api/query.ts";
import type { Earlier } from "../../common/charts/TimeChart.tsx";
import { useQueryParams } from "../../common/lists/queryParams.ts";
import { overviewText } from "../../messages/overview.ts";
import { statisticsInput } from "./askEarly.ts";
import type { ChosenPeriod } from "./periods.ts";
import type { Segment } from "./segments.ts";

export type Statistics = Answer<"GET /sites/:site/statistics">;
export type DeliveryState = keyof Statistics["platforms"][number]["states"];

export const models = ["last", "first", "linear"] as const;
type Model = (typeof models)[number];

/** Which visits get a conversion, kept in the URL. */
export function useModel() {
  const { text, change } = useQueryParams();
  return {
    model: models.find((one) => one === text("model")) ?? "last",
    setModel: (model: Model) => change({ model: model === "last" ? undefined : model }),
  };
}

export function useStatistics(site: string, period: ChosenPeriod, segment: Segment | null, timeZone: string | undefined) {
  const { model } = useModel();
  const [now, setNow] = useState(Date.now);
  const tick = useInterval(() => setNow(Date.now()), 60_000);
  useEffect(() => {
    tick.start();
    return tick.stop;
  }, [tick]);
  return useApi("GET /sites/:site/statistics", statisticsInput(site, { period, segment, model }, timeZone, now), {
    keepPrevious: true,
    everyMs: 60_000,
    enabled: timeZone !== undefined,
  });
}

/** Returns the filters that list the events that were counted as conversions. */
export const conversionsIn = ({ from, to }: Pick<Statistics, "from" | "to">, segment: Segment | null) => ({
  from,
  to,
  status: "accepted",
  ...(segment ? { [segment.kind]: segment.name } : {}),
});
export const filteredIn = ({ from, to }: Statistics) => ({ from, to, status: "filtered" });

/** Returns the end of a step: the start of the next one, or the end of the period. */
export function endOfStep({ steps, to }: Statistics, startsAt: number): number {
  return steps.find((one) => one.startsAt > startsAt)?.startsAt ?? to;
}

export const inCurrency = (values: Statistics["totals"]["values"], currency: string | undefined) =>
  values.find((one) => one.currency === currency)?.value ?? 0;

type EarlierStep = Statistics["steps"][number]["before"];

/** The line of the earlier period in a chart. */
export const earlierOf = ({ steps }: Statistics, value: (step: EarlierStep) => number): Earlier => ({
  name: overviewText.earlier,
  times: steps.map(({ before }) => before.startsAt),
  values: steps.map(({ before }) => value(before)),
});

/** The days or hours with which the period is compared. */
export function earlierRange({ from, step, steps }: Statistics): { from: number; to: number } {
  const [first = from, last = first] = [steps[0]?.before.startsAt, steps.at(-1)?.before.startsAt];
  return { from: first, to: last + (step === "hour" ? hourMs : 1) };
}

/** The steps of a chart. While the period is not over, its last one is running. */
export const stepsOf = ({ steps, step, timeZone, to }: Statistics) => ({
  times: steps.map(({ startsAt }) => startsAt),
  step,
  timeZone,
  isRunning: to > Date.now(),
});

export const sumOf = (states: Partial<Record<DeliveryState, number>>, without: DeliveryState[] = []) =>
  Object.entries(states)
    .filter(([state]) => !without.includes(state as DeliveryState))
    .reduce((sum, [, n]) => sum + n, 0);
