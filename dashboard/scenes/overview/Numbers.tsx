// The numbers that matter most, each a link to what is behind it.

import { SimpleGrid, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { Minus, TrendingDown, TrendingUp } from "lucide-react";
import type { ReactNode } from "react";
import { countText, moneyText, percentText, shortCount } from "../../common/format.ts";
import { bySize, sumOf, type DeliveryState, type Statistics } from "./statistics.ts";

export function Numbers({ site, of }: { site: string; of: Statistics }) {
  const { totals, before, match } = of;
  const times = { from: of.from, to: of.to };
  const values = bySize(totals.values);
  const [main] = values;
  const delivered = of.platforms.reduce((sum, { states }) => sum + (states.sent ?? 0), 0);
  const due = of.platforms.reduce((sum, { states }) => sum + sumOf(states, leftOut), 0);
  const log = `/sites/${site}/integrations/log`;
  return (
    <SimpleGrid cols={{ base: 2, md: 3, lg: 6 }} spacing="md">
      <Tile
        label="Conversions"
        value={shortCount(totals.conversions)}
        to={`/sites/${site}/events`}
        search={{ ...times, status: "accepted" }}
      >
        <Change now={totals.conversions} before={before.conversions} />
      </Tile>
      <Tile
        label="Value"
        value={main ? shortMoney(main.value) : "–"}
        {...(main ? { unit: main.currency } : {})}
        to={`/sites/${site}/events`}
        search={{ ...times, status: "accepted" }}
      >
        {values.length > 1
          ? values
              .slice(1, 4)
              .map(({ value, currency }) => <div key={currency}>{moneyText(value, currency)}</div>)
          : main && (
              <Change
                now={main.value}
                before={before.values.find(({ currency }) => currency === main.currency)?.value ?? 0}
              />
            )}
        {values.length > 4 && <div>and {values.length - 4} more currencies</div>}
      </Tile>
      <Tile
        label="Match rate"
        value={percentText(match.withClickId, match.conversions)}
        to={`/sites/${site}/events`}
        search={times}
      >
        {countText(match.withClickId)} of {countText(match.conversions)} with a click id
      </Tile>
      <Tile label="Delivered" value={percentText(delivered, due)} to={log} search={times}>
        {countText(delivered)} of {countText(due)} deliveries, without skipped ones
      </Tile>
      <Tile
        label="Bots removed"
        value={shortCount(totals.bots + totals.filtered)}
        to={`/sites/${site}/configuration/traffic`}
      >
        {countText(totals.bots)} visits, {countText(totals.filtered)} events
      </Tile>
      <Tile
        label="Duplicates"
        value={shortCount(totals.duplicates)}
        to={`/sites/${site}/configuration/deduplication`}
      >
        came again, not sent twice
      </Tile>
    </SimpleGrid>
  );
}

const leftOut: DeliveryState[] = ["skipped"];

/** Cents do not matter beside thousands. */
const shortMoney = (value: number) =>
  value < 1000
    ? value.toLocaleString("en", { maximumFractionDigits: 2 })
    : value.toLocaleString("en", { notation: "compact", maximumSignificantDigits: 3 });

function Tile({
  label,
  value,
  unit,
  to,
  search,
  children,
}: {
  label: string;
  value: string;
  unit?: string;
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
        title={unit ? `${unit} ${value}` : value}
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

/** Against the time of the same length before. */
function Change({ now, before }: { now: number; before: number }) {
  if (before === 0) return <>{now === 0 ? "none before either" : "none in the time before"}</>;
  const percent = Math.round(((now - before) / before) * 100);
  const Icon = percent === 0 ? Minus : percent > 0 ? TrendingUp : TrendingDown;
  const text =
    percent === 0
      ? "as many as before"
      : `${countText(Math.abs(percent))} % ${percent > 0 ? "more" : "less"}`;
  return (
    <span style={{ display: "inline-flex", gap: 6, alignItems: "center" }}>
      <Icon size={14} aria-hidden style={{ flex: "none" }} />
      {text}
      {percent === 0 ? "" : " than before"}
    </span>
  );
}
