// Conversions and their value over time.

import { SegmentedControl, Skeleton, Text } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useSite } from "../../common/api/session.ts";
import { TimeChart } from "../../common/charts/TimeChart.tsx";
import { moneyText, shortMoney } from "../../common/format/numbers.ts";
import { ChartCard } from "./ChartCard.tsx";
import { useSegment } from "./segments.ts";
import { conversionsIn, earlierOf, endOfStep, inCurrency, stepsOf, type Statistics } from "./statistics.ts";
import { overviewText } from "../../messages/overview.ts";

type Props = { site: string; of: Statistics };

/** A click on a bar opens its events. */
function useToEvents({ site, of }: Props) {
  const navigate = useNavigate();
  const { segment } = useSegment();
  return (startsAt: number) =>
    void navigate({
      to: `/sites/${site}/events`,
      search: { ...conversionsIn(of, segment), from: startsAt, to: endOfStep(of, startsAt) },
    });
}

/** Where the figures of a site begin. */
function useSiteMark() {
  const site = useSite();
  return site && { name: overviewText.siteAdded, at: site.createdAt };
}

const useRowsLink = ({ site, of }: { site: string; of: Pick<Statistics, "from" | "to"> }) => ({
  to: `/sites/${site}/events`,
  search: conversionsIn(of, useSegment().segment),
  label: overviewText.events,
});

/**
 * What stands around a chart is there before its figures, and stays when they come: on a slow line, the page is painted half a second
 * earlier.
 */
type Coming = { site: string; of: Pick<Statistics, "from" | "to" | "step">; figures: Statistics | undefined };
const coming = <Skeleton height={244} />;

export function ConversionsChart({ site, of, figures }: Coming) {
  return (
    <ChartCard
      title={overviewText.conversions.title}
      counts={overviewText.conversions.about[of.step]}
      rows={useRowsLink({ site, of })}
      nothing={figures?.totals.conversions === 0 ? overviewText.noConversions : null}
    >
      {figures ? <ConversionsOverTime site={site} of={figures} /> : coming}
    </ChartCard>
  );
}

function ConversionsOverTime(props: Props) {
  const { of } = props;
  const mark = useSiteMark();
  const toEvents = useToEvents(props);
  return (
    <TimeChart
      label={overviewText.conversions.chart[of.step]}
      {...stepsOf(of)}
      height={220}
      series={[
        {
          name: overviewText.conversions.title,
          values: of.steps.map(({ conversions }) => conversions),
          tone: "accent",
        },
      ]}
      mark={mark}
      earlier={earlierOf(of, ({ conversions }) => conversions)}
      onPick={toEvents}
    />
  );
}

export function ValueChart({ site, of, figures }: Coming) {
  const currencies = figures?.totals.values.map((one) => one.currency) ?? [];
  const [chosen, choose] = useState<string | null>(null);
  const currency = chosen && currencies.includes(chosen) ? chosen : (currencies[0] ?? "");
  return (
    <ChartCard
      title={overviewText.value.title}
      counts={overviewText.value.about[of.step]}
      rows={useRowsLink({ site, of })}
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
      nothing={figures && currency === "" ? overviewText.value.none : null}
    >
      {figures ? <ValueOverTime site={site} of={figures} currency={currency} /> : coming}
    </ChartCard>
  );
}

function ValueOverTime({ currency, ...props }: Props & { currency: string }) {
  const { of } = props;
  const mark = useSiteMark();
  const toEvents = useToEvents(props);
  const { refunds } = of.totals;
  const text = (value: number) => moneyText(value, currency);
  return (
    <>
      <TimeChart
        label={overviewText.value.series(currency)}
        {...stepsOf(of)}
        height={220}
        series={[
          {
            name: overviewText.value.series(currency),
            values: of.steps.map(({ values }) => inCurrency(values, currency)),
            tone: "accent",
            text,
          },
        ]}
        mark={mark}
        earlier={earlierOf(of, ({ values }) => inCurrency(values, currency))}
        axisText={(value) => shortMoney(value, currency)}
        onPick={toEvents}
      />
      {refunds.length > 0 && (
        <Text size="sm" c="dimmed" mt="xs">
          {overviewText.value.refunded(refunds.map((one) => moneyText(one.value, one.currency)).join(" · "))}
        </Text>
      )}
    </>
  );
}
