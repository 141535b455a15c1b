// Conversions and their value over time.

import { SegmentedControl } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { TimeChart } from "../../common/Chart.tsx";
import { moneyText } from "../../common/format/numbers.ts";
import { ChartCard } from "./ChartCard.tsx";
import { conversionsIn, endOfStep, useChartColours, type Statistics } from "./statistics.ts";
import { overviewText } from "../../messages/overview.ts";

type Props = { site: string; of: Statistics };

/** A click on a bar opens its events. */
function useToEvents({ site, of }: Props) {
  const navigate = useNavigate();
  return (startsAt: number) =>
    void navigate({
      to: `/sites/${site}/events`,
      search: { ...conversionsIn(of), from: startsAt, to: endOfStep(of, startsAt) },
    });
}

const rowsOf = ({ site, of }: Props) => ({
  to: `/sites/${site}/events`,
  search: conversionsIn(of),
  label: overviewText.events,
});

export function ConversionsChart(props: Props) {
  const { of } = props;
  const { accent } = useChartColours();
  const toEvents = useToEvents(props);
  return (
    <ChartCard
      title={overviewText.conversions.title}
      counts={overviewText.conversions.about[of.step]}
      rows={rowsOf(props)}
      nothing={of.totals.conversions === 0 ? overviewText.noConversions : null}
    >
      <TimeChart
        label={overviewText.conversions.chart[of.step]}
        times={of.steps.map(({ startsAt }) => startsAt)}
        step={of.step}
        timeZone={of.timeZone}
        height={200}
        series={[
          {
            name: overviewText.conversions.title,
            values: of.steps.map(({ conversions }) => conversions),
            colour: accent,
          },
        ]}
        onPick={toEvents}
      />
    </ChartCard>
  );
}

export function ValueChart(props: Props) {
  const { of } = props;
  const { accent } = useChartColours();
  const toEvents = useToEvents(props);
  const currencies = of.totals.values.map(({ currency }) => currency);
  const [chosen, choose] = useState<string | null>(null);
  const currency = chosen && currencies.includes(chosen) ? chosen : (currencies[0] ?? "");
  const text = (value: number) => moneyText(value, currency);
  return (
    <ChartCard
      title={overviewText.value.title}
      counts={overviewText.value.about[of.step]}
      rows={rowsOf(props)}
      actions={
        currencies.length > 1 && (
          <SegmentedControl
            size="xs"
            aria-label={overviewText.value.currency}
            value={currency}
            onChange={choose}
            data={currencies.slice(0, 4)}
          />
        )
      }
      nothing={currency === "" ? overviewText.value.none : null}
    >
      <TimeChart
        label={overviewText.value.series(currency)}
        times={of.steps.map(({ startsAt }) => startsAt)}
        step={of.step}
        timeZone={of.timeZone}
        height={200}
        series={[
          {
            name: overviewText.value.series(currency),
            values: of.steps.map(({ values }) => values.find((one) => one.currency === currency)?.value ?? 0),
            colour: accent,
            text,
          },
        ]}
        onPick={toEvents}
      />
    </ChartCard>
  );
}
