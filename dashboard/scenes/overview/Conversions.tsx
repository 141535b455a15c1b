// Conversions and their value over time.

import { SegmentedControl } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { TimeChart } from "../../common/Chart.tsx";
import { moneyText } from "../../common/format/format.ts";
import { ChartCard } from "./ChartCard.tsx";
import { conversionsIn, endOfStep, useChartColours, type Statistics } from "./statistics.ts";

type Props = { site: string; of: Statistics };

const none = "No conversions in this period.";

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
  label: "Events",
});

export function ConversionsChart(props: Props) {
  const { of } = props;
  const { accent } = useChartColours();
  const toEvents = useToEvents(props);
  return (
    <ChartCard
      title="Conversions"
      counts={`Accepted live events per ${of.step}, without duplicates, filtered and test events.`}
      rows={rowsOf(props)}
      nothing={of.totals.conversions === 0 ? none : null}
    >
      <TimeChart
        label={`Conversions per ${of.step}`}
        times={of.steps.map(({ startsAt }) => startsAt)}
        step={of.step}
        timeZone={of.timeZone}
        height={200}
        series={[
          { name: "Conversions", values: of.steps.map(({ conversions }) => conversions), colour: accent },
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
      title="Value"
      counts={`Value of these conversions per ${of.step}, ${currency ? `in ${currency}` : "by currency"}, without refunds. Currencies are never added together.`}
      rows={rowsOf(props)}
      actions={
        currencies.length > 1 && (
          <SegmentedControl
            size="xs"
            aria-label="Currency"
            value={currency}
            onChange={choose}
            data={currencies.slice(0, 4)}
          />
        )
      }
      nothing={currency === "" ? "No conversions with a value in this period." : null}
    >
      <TimeChart
        label={`Value in ${currency} per ${of.step}`}
        times={of.steps.map(({ startsAt }) => startsAt)}
        step={of.step}
        timeZone={of.timeZone}
        height={200}
        series={[
          {
            name: `Value in ${currency}`,
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
