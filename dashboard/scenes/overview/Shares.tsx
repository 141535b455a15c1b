// Conversions by click id and by event.

import { Text } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { BarList } from "../../common/Chart.tsx";
import { countText, moneyText, percentText } from "../../common/format/numbers.ts";
import { TextLink } from "../../common/links.tsx";
import { ChartCard } from "./ChartCard.tsx";
import { conversionsIn, type Statistics } from "./statistics.ts";
import { overviewText } from "../../messages/overview.ts";

type Props = { site: string; of: Statistics };

export function MatchRate({ site, of }: Props) {
  const navigate = useNavigate();
  const { match } = of;
  const search = conversionsIn(of);
  const rest = match.conversions - match.withClickId;
  const clickIds = match.clickIds.toSorted((one, other) => other.conversions - one.conversions);
  const items = clickIds.map(({ name, conversions }) => ({
    name,
    value: conversions,
    text: `${countText(conversions)} · ${percentText(conversions, match.conversions)}`,
  }));
  return (
    <ChartCard
      title={overviewText.match.title}
      counts={overviewText.match.about}
      rows={{ to: `/sites/${site}/events`, search, label: overviewText.events }}
      nothing={match.conversions === 0 ? overviewText.noConversions : null}
    >
      <BarList
        label={overviewText.match.chart}
        items={[
          ...items,
          {
            name: overviewText.match.none,
            key: "none",
            value: rest,
            text: `${countText(rest)} · ${percentText(rest, match.conversions)}`,
          },
        ]}
        onPick={(clickId) => void navigate({ to: `/sites/${site}/events`, search: { ...search, clickId } })}
      />
      <Text size="sm" c="dimmed" mt="sm">
        {overviewText.match.identified(countText(match.identified), countText(match.conversions))}{" "}
        {match.withheld > 0 && `${overviewText.match.withheld(match.withheld)} `}
        {match.identified < match.conversions && (
          <TextLink to={`/sites/${site}/configuration/tag`} underline="always">
            {overviewText.match.checkTag}
          </TextLink>
        )}
      </Text>
    </ChartCard>
  );
}

/** Rare names of an hour are counted together under this name. */
const otherNames = "(other)";

/** The sum in the main currency, and the names of other currencies. */
function valueText([main, ...others]: Statistics["totals"]["values"]): string {
  if (!main) return "";
  return [moneyText(main.value, main.currency), ...others.map(({ currency }) => currency)].join(" + ");
}

export function ByEvent({ site, of }: Props) {
  const navigate = useNavigate();
  const search = conversionsIn(of);
  const events = of.events.toSorted((one, other) => other.conversions - one.conversions).slice(0, 8);
  return (
    <ChartCard
      title={overviewText.byEvent.title}
      counts={overviewText.byEvent.about}
      rows={{ to: `/sites/${site}/events`, search, label: overviewText.events }}
      nothing={events.length === 0 ? overviewText.noConversions : null}
    >
      <BarList
        label={overviewText.byEvent.title}
        items={events.map(({ name, conversions, values }) => ({
          name,
          value: conversions,
          text: [countText(conversions), valueText(values)].filter(Boolean).join(" · "),
        }))}
        onPick={(event) =>
          void navigate({
            to: `/sites/${site}/events`,
            search: event === otherNames ? search : { ...search, event },
          })
        }
      />
    </ChartCard>
  );
}
