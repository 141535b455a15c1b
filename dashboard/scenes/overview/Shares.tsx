// Conversions by click id and by event.

import { Text } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { BarList } from "../../common/Chart.tsx";
import { countText, moneyText, percentText } from "../../common/format/format.ts";
import { TextLink } from "../../common/links.tsx";
import { ChartCard } from "./ChartCard.tsx";
import { conversionsIn, type Statistics } from "./statistics.ts";

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
      title="Match rate by click id"
      counts="Conversions with each click id. One conversion can have several."
      rows={{ to: `/sites/${site}/events`, search, label: "Events" }}
      nothing={match.conversions === 0 ? "No conversions in this period." : null}
    >
      <BarList
        label="Conversions by click id"
        items={[
          ...items,
          {
            name: "no click id",
            key: "none",
            value: rest,
            text: `${countText(rest)} · ${percentText(rest, match.conversions)}`,
          },
        ]}
        onPick={(clickId) => void navigate({ to: `/sites/${site}/events`, search: { ...search, clickId } })}
      />
      <Text size="sm" c="dimmed" mt="sm">
        {countText(match.identified)} of {countText(match.conversions)} had an identity record.{" "}
        {match.withheld > 0 &&
          `${countText(match.withheld)} were sent without identifiers, for lack of consent. `}
        {match.identified < match.conversions && (
          <TextLink to={`/sites/${site}/configuration/tag`} underline="always">
            Check the tag
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
      title="Conversions by event"
      counts="By event name, as your servers send it."
      rows={{ to: `/sites/${site}/events`, search, label: "Events" }}
      nothing={events.length === 0 ? "No conversions in this period." : null}
    >
      <BarList
        label="Conversions by event"
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
