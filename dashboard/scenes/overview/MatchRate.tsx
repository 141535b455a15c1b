// Conversions by click id.

import { Anchor, Text } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { BarList } from "../../common/charts/BarList.tsx";
import { countText, percentText } from "../../common/format/numbers.ts";
import { TextLink } from "../../common/links.tsx";
import { ChartCard } from "./ChartCard.tsx";
import { useSegment } from "./segments.ts";
import { conversionsIn, type Statistics } from "./statistics.ts";
import { overviewText } from "../../messages/overview.ts";

type Props = { site: string; of: Statistics };

const shownAtFirst = 7;

export function MatchRate({ site, of }: Props) {
  const navigate = useNavigate();
  const { match } = of;
  const { segment } = useSegment();
  const search = conversionsIn(of, segment);
  const rest = match.conversions - match.withClickId;
  const clickIds = match.clickIds.toSorted((one, other) => other.conversions - one.conversions);
  const [showAll, setShowAll] = useState(false);
  const items = (showAll ? clickIds : clickIds.slice(0, shownAtFirst)).map(({ name, conversions }) => ({
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
      {clickIds.length > items.length && (
        <Anchor component="button" type="button" size="sm" mt={4} ml={8} onClick={() => setShowAll(true)}>
          {overviewText.reasons.showAll(clickIds.length)}
        </Anchor>
      )}
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
