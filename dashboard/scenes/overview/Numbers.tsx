// The key figures, each with a link to its rows.

import { SimpleGrid } from "@mantine/core";
import { Minus, TrendingDown, TrendingUp } from "lucide-react";
import { Tile } from "../../common/Tile.tsx";
import { countText, moneyText, percentText, shortCount, shortMoney } from "../../common/format/numbers.ts";
import { conversionsIn, sumOf, type Statistics } from "./statistics.ts";
import { overviewText } from "../../messages/overview.ts";

export function Numbers({ site, of }: { site: string; of: Statistics }) {
  const { totals, before, match } = of;
  const [main, ...others] = totals.values;
  const delivered = of.platforms.reduce((sum, { states }) => sum + (states.sent ?? 0), 0);
  const due = of.platforms.reduce((sum, { states }) => sum + sumOf(states, ["skipped"]), 0);
  const events = `/sites/${site}/events`;
  const bots = totals.bots + totals.botEvents;
  const byRules = totals.filtered - totals.botEvents;
  return (
    <SimpleGrid cols={{ base: 2, md: 3, lg: 6 }} spacing="md">
      <Tile
        label={overviewText.conversions.title}
        value={shortCount(totals.conversions)}
        exact={countText(totals.conversions)}
        to={events}
        search={conversionsIn(of)}
      >
        <Change now={totals.conversions} before={before.conversions} />
      </Tile>
      <Tile
        label={overviewText.value.title}
        value={main ? shortMoney(main.value, main.currency) : "–"}
        {...(main ? { exact: moneyText(main.value, main.currency) } : {})}
        to={events}
        search={conversionsIn(of)}
      >
        {main && (
          <Change
            now={main.value}
            before={before.values.find(({ currency }) => currency === main.currency)?.value ?? 0}
          />
        )}
        <Amounts of={others} />
        <Amounts of={totals.refunds} textOf={overviewText.value.refunded} />
      </Tile>
      <Tile
        label={overviewText.tiles.matchRate}
        value={percentText(match.withClickId, match.conversions)}
        to={events}
        search={conversionsIn(of)}
      >
        {overviewText.tiles.matched(countText(match.withClickId), match.conversions)}
      </Tile>
      <Tile
        label={overviewText.tiles.delivered}
        value={percentText(delivered, due)}
        to={`/sites/${site}/integrations/log`}
        search={{ from: of.from, to: of.to, mode: "live" }}
      >
        {overviewText.tiles.deliveredOf(countText(delivered), due)}
      </Tile>
      <Tile
        label={overviewText.bots.title}
        value={shortCount(bots)}
        exact={countText(bots)}
        to={`/sites/${site}/configuration/traffic`}
      >
        {overviewText.tiles.botVisits(totals.bots)}, {overviewText.tiles.botEvents(totals.botEvents)}
        {byRules > 0 && <div>{overviewText.tiles.byRules(byRules)}</div>}
      </Tile>
      <Tile
        label={overviewText.duplicates.title}
        value={shortCount(totals.duplicates)}
        exact={countText(totals.duplicates)}
        to={`/sites/${site}/configuration/deduplication`}
      >
        {overviewText.tiles.duplicates}
      </Tile>
    </SimpleGrid>
  );
}

type Money = Statistics["totals"]["values"][number];

const maxAmounts = 3;

function Amounts({
  of,
  textOf = (amount) => amount,
}: {
  of: readonly Money[];
  textOf?: (amount: string) => string;
}) {
  const rest = of.slice(maxAmounts).map(({ currency }) => currency);
  return (
    <>
      {of.slice(0, maxAmounts).map(({ value, currency }) => (
        <div key={currency}>{textOf(moneyText(value, currency))}</div>
      ))}
      {rest.length > 0 && <div>{textOf(overviewText.value.more(rest.join(", ")))}</div>}
    </>
  );
}

/** Compares with the preceding period of equal length. */
function Change({ now, before }: { now: number; before: number }) {
  // Growth to more than ten times the earlier figure is meaningless: the site was new.
  if (before === 0 || before * 10 < now) return <>{overviewText.tiles.noComparison}</>;
  const percent = Math.round(((now - before) / before) * 100);
  const Icon = percent === 0 ? Minus : percent > 0 ? TrendingUp : TrendingDown;
  const { noChange, more, less } = overviewText.tiles;
  const share = percentText(Math.abs(percent), 100);
  return (
    <span style={{ display: "inline-flex", gap: 6, alignItems: "center" }}>
      <Icon size={14} aria-hidden style={{ flex: "none" }} />
      {percent === 0 ? noChange : percent > 0 ? more(share) : less(share)}
    </span>
  );
}
