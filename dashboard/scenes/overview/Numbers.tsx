// The key figures: each with its course, and compared with the period before.

import { Group, SimpleGrid, Text } from "@mantine/core";
import { Minus, TrendingDown, TrendingUp } from "lucide-react";
import { Sparkline } from "../../common/charts/Sparkline.tsx";
import { Tile } from "../../common/Tile.tsx";
import { countText, moneyText, percentText, rateText, shortCount, shortMoney, tenthsOf } from "../../common/format/numbers.ts";
import { conversionsIn, inCurrency, type Statistics } from "./statistics.ts";
import { logFilterOf, notDelivered, type Segment } from "./segments.ts";
import { overviewText } from "../../messages/overview.ts";

type Step = Statistics["steps"][number];

const ratio = (part: number, whole: number) => (whole === 0 ? 0 : part / whole);

export function Numbers({ site, of, segment }: { site: string; of: Statistics; segment: Segment | null }) {
  const { totals, before, steps } = of;
  const [main, ...others] = totals.values;
  const rows = { to: `/sites/${site}/events`, search: conversionsIn(of, segment) };
  const courseOf = (value: (step: Step) => number) => <Sparkline values={steps.map(value)} />;
  const bots = totals.bots + totals.botEvents;
  const { tiles } = overviewText;
  return (
    <SimpleGrid cols={segment ? { base: 2, md: 4 } : { base: 2, md: 3, lg: 6 }} spacing="md">
      <Tile
        label={overviewText.conversions.title}
        value={shortCount(totals.conversions)}
        exact={countText(totals.conversions)}
        {...rows}
      >
        <Change now={totals.conversions} before={before.conversions} text={shortCount} />
        {courseOf(({ conversions }) => conversions)}
      </Tile>
      <Tile
        label={others.length ? tiles.valueAnd(others.map(({ currency }) => currency)) : overviewText.value.title}
        value={main ? shortMoney(main.value, main.currency) : "–"}
        {...(main ? { exact: totals.values.map((one) => moneyText(one.value, one.currency)).join(" · ") } : {})}
        {...rows}
      >
        <Change
          now={main?.value ?? 0}
          before={inCurrency(before.values, main?.currency)}
          text={(value) => shortMoney(value, main?.currency ?? "")}
        />
        {courseOf(({ values }) => inCurrency(values, main?.currency))}
      </Tile>
      <Tile
        label={tiles.matchRate}
        value={rateText(totals.withClickId, totals.conversions)}
        exact={tiles.matched(countText(totals.withClickId), totals.conversions)}
        to={rows.to}
        search={{ ...rows.search, clickId: "none" }}
      >
        <RateChange now={[totals.withClickId, totals.conversions]} before={[before.withClickId, before.conversions]} />
        {courseOf(({ withClickId, conversions }) => ratio(withClickId, conversions))}
      </Tile>
      <Tile
        label={tiles.delivered}
        value={rateText(totals.sent, totals.due)}
        exact={tiles.deliveredOf(countText(totals.sent), totals.due)}
        to={`/sites/${site}/integrations/log`}
        search={{ from: of.from, to: of.to, state: notDelivered, ...logFilterOf(segment) }}
      >
        <RateChange now={[totals.sent, totals.due]} before={[before.sent, before.due]} />
        {courseOf(({ sent, due }) => ratio(sent, due))}
      </Tile>
      {!segment && (
        <>
          <Tile
            label={overviewText.bots.title}
            value={shortCount(bots)}
            exact={`${tiles.botVisits(totals.bots)}, ${tiles.botEvents(totals.botEvents)}`}
            to={`/sites/${site}/bots/visits`}
          >
            <Change now={bots} before={before.bots + before.botEvents} text={shortCount} />
            {courseOf(({ visits, botEvents }) => (visits.bots ?? 0) + botEvents)}
          </Tile>
          {/* A duplicate leaves no event, so there is no list of them. */}
          <Tile label={overviewText.duplicates.title} value={shortCount(totals.duplicates)} exact={countText(totals.duplicates)}>
            <Change now={totals.duplicates} before={before.duplicates} text={shortCount} />
            {courseOf(({ duplicates }) => duplicates)}
          </Tile>
        </>
      )}
    </SimpleGrid>
  );
}

/** Compares a figure with the preceding period of equal length. */
function Change({ now, before, text }: { now: number; before: number; text: (value: number) => string }) {
  if (before === 0) return <Delta sign={0} text={overviewText.tiles.noComparison} />;
  const percent = Math.round(((now - before) / before) * 100);
  const { noChange, from, change } = overviewText.tiles;
  // Growth to more than ten times the earlier figure says nothing in percent: the site was new.
  if (now > 10 * before) return <Delta sign={1} text={from(text(before))} />;
  if (percent === 0) return <Delta sign={0} text={noChange} />;
  return <Delta sign={percent} text={change(percentText(Math.abs(percent), 100), text(before))} />;
}

type Rate = readonly [part: number, whole: number];

/** Compares two shares. The tile has room for the earlier one; the difference in percentage points is its title. */
function RateChange({ now, before }: { now: Rate; before: Rate }) {
  const { noComparison, noChange, points, from } = overviewText.tiles;
  if (now[1] === 0 || before[1] === 0) return <Delta sign={0} text={noComparison} />;
  const difference = tenthsOf(...now) - tenthsOf(...before);
  if (difference === 0) return <Delta sign={0} text={noChange} />;
  const earlier = rateText(...before);
  return <Delta sign={difference} text={from(earlier)} whole={points(Math.abs(difference) / 10, earlier)} />;
}

/** Neutral colours: more bots or duplicates are neither good nor bad. */
function Delta({ sign, text, whole = text }: { sign: number; text: string; whole?: string }) {
  const Icon = sign === 0 ? Minus : sign > 0 ? TrendingUp : TrendingDown;
  const { more, less } = overviewText.tiles;
  return (
    <Group gap={6} wrap="nowrap" title={whole}>
      <Icon size={14} role="img" aria-hidden={sign === 0} aria-label={sign > 0 ? more : less} style={{ flex: "none" }} />
      <Text span inherit truncate>
        {text}
      </Text>
    </Group>
  );
}
