// The key figures, each with a link to its rows.

import { SimpleGrid, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { Minus, TrendingDown, TrendingUp } from "lucide-react";
import type { ReactNode } from "react";
import { counted, countText, moneyText, percentText, shortCount } from "../../common/format/format.ts";
import { conversionsIn, sumOf, type Statistics } from "./statistics.ts";

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
        label="Conversions"
        value={shortCount(totals.conversions)}
        exact={countText(totals.conversions)}
        to={events}
        search={conversionsIn(of)}
      >
        <Change now={totals.conversions} before={before.conversions} />
      </Tile>
      <Tile
        label="Value"
        value={main ? shortMoney(main) : "–"}
        {...(main ? { unit: main.currency, exact: moneyText(main.value, main.currency) } : {})}
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
        <Amounts of={totals.refunds} word="refunded" />
      </Tile>
      <Tile
        label="Match rate"
        value={percentText(match.withClickId, match.conversions)}
        to={events}
        search={conversionsIn(of)}
      >
        {countText(match.withClickId)} of {counted(match.conversions, "conversion")} with a click id
      </Tile>
      <Tile
        label="Delivered"
        value={percentText(delivered, due)}
        to={`/sites/${site}/integrations/log`}
        search={{ from: of.from, to: of.to, mode: "live" }}
      >
        {countText(delivered)} of {counted(due, "delivery", "deliveries")}, skipped not counted
      </Tile>
      <Tile
        label="Bots removed"
        value={shortCount(bots)}
        exact={countText(bots)}
        to={`/sites/${site}/configuration/traffic`}
      >
        {counted(totals.bots, "visit")}, {counted(totals.botEvents, "event")}
        {byRules > 0 && <div>{countText(byRules)} filtered by your rules</div>}
      </Tile>
      <Tile
        label="Duplicates"
        value={shortCount(totals.duplicates)}
        exact={countText(totals.duplicates)}
        to={`/sites/${site}/configuration/deduplication`}
      >
        received again and not re-sent
      </Tile>
    </SimpleGrid>
  );
}

type Money = Statistics["totals"]["values"][number];

/** A shortened amount without its currency, and without cents from 1,000 on. */
const shortMoney = ({ value, currency }: Money) =>
  value < 1000 ? moneyText(value, currency).replace(currency, "").trim() : shortCount(Math.round(value));

const maxAmounts = 3;

function Amounts({ of, word = "" }: { of: readonly Money[]; word?: string }) {
  const rest = of.slice(maxAmounts).map(({ currency }) => currency);
  return (
    <>
      {of.slice(0, maxAmounts).map(({ value, currency }) => (
        <div key={currency}>
          {moneyText(value, currency)} {word}
        </div>
      ))}
      {rest.length > 0 && (
        <div>
          and {rest.join(", ")} {word}
        </div>
      )}
    </>
  );
}

function Tile({
  label,
  value,
  unit,
  exact,
  to,
  search,
  children,
}: {
  label: string;
  value: string;
  unit?: string;
  /** The exact figure behind a shortened `value`. */
  exact?: string;
  to: string;
  search?: Record<string, unknown>;
  children?: ReactNode;
}) {
  return (
    <Link to={to} search={search ?? {}} className="cc-card cc-tile">
      <Text size="sm" c="dimmed" component="span" display="block">
        {label}
      </Text>
      <Text
        component="span"
        display="block"
        fz={24}
        lh="32px"
        fw={600}
        className="cc-number"
        truncate
        title={exact ?? value}
      >
        {unit && (
          <Text span fz="sm" fw={500} c="dimmed">
            {unit}{" "}
          </Text>
        )}
        {value}
      </Text>
      <Text size="xs" c="dimmed" component="div" mt={2} className="cc-number">
        {children}
      </Text>
    </Link>
  );
}

/** Compares with the preceding period of equal length. */
function Change({ now, before }: { now: number; before: number }) {
  // Growth to more than ten times the earlier figure is meaningless: the site was new.
  if (before === 0 || before * 10 < now) return <>no earlier data to compare with</>;
  const percent = Math.round(((now - before) / before) * 100);
  const Icon = percent === 0 ? Minus : percent > 0 ? TrendingUp : TrendingDown;
  const text =
    percent === 0 ? "no change" : `${countText(Math.abs(percent))} % ${percent > 0 ? "more" : "less"}`;
  return (
    <span style={{ display: "inline-flex", gap: 6, alignItems: "center" }}>
      <Icon size={14} aria-hidden style={{ flex: "none" }} />
      {text}
      {percent === 0 ? "" : " than before"}
    </span>
  );
}
