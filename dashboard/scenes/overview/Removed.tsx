// Bots and duplicates that were removed.

import { Anchor, Stack, Text, Title } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { BarList } from "../../common/charts/BarList.tsx";
import { TimeChart } from "../../common/charts/TimeChart.tsx";
import { countText } from "../../common/format/numbers.ts";
import { reasonText } from "../../common/format/reasons.ts";
import { ChartCard } from "./ChartCard.tsx";
import { earlierOf, endOfStep, filteredIn, stepsOf, type Statistics } from "./statistics.ts";
import { TextLink } from "../../common/links.tsx";
import { overviewText } from "../../messages/overview.ts";

type Props = { site: string; of: Statistics };

const traffic = (site: string) => `/sites/${site}/bots/visits`;

export function BotsOverTime({ site, of }: Props) {
  const navigate = useNavigate();
  const none = of.totals.bots + of.totals.botEvents === 0;
  return (
    <ChartCard
      title={overviewText.bots.title}
      counts={overviewText.bots.about[of.step]}
      rows={{
        to: `/sites/${site}/events`,
        search: filteredIn(of),
        label: overviewText.bots.rows,
      }}
      nothing={none ? (of.totals.people === 0 ? overviewText.bots.noVisits : overviewText.bots.none(of.totals.people)) : null}
    >
      <TimeChart
        label={overviewText.bots.chart[of.step]}
        {...stepsOf(of)}
        height={200}
        series={[
          {
            name: overviewText.visits,
            values: of.steps.map(({ visits }) => visits.bots ?? 0),
            tone: "quiet",
          },
          { name: overviewText.events, values: of.steps.map(({ botEvents }) => botEvents), tone: "accent" },
        ]}
        earlier={earlierOf(of, (before) => before.bots + before.botEvents)}
        onPick={(startsAt) =>
          void navigate({
            to: `/sites/${site}/events`,
            search: { ...filteredIn(of), from: startsAt, to: endOfStep(of, startsAt) },
          })
        }
      />
    </ChartCard>
  );
}

export function BotsByReason({ site, of }: Props) {
  const navigate = useNavigate();
  return (
    <ChartCard
      title={overviewText.reasons.title}
      counts={overviewText.reasons.about}
      rows={{ to: traffic(site), label: overviewText.reasons.rows }}
      nothing={of.removed.length === 0 ? overviewText.reasons.none : null}
    >
      <Stack gap="md">
        <Reasons
          title={overviewText.visits}
          label={overviewText.reasons.visits}
          reasons={of.removed.map(({ reason, visits }) => ({ reason, count: visits }))}
          onPick={() => void navigate({ to: traffic(site) })}
        />
        <Reasons
          title={overviewText.events}
          label={overviewText.reasons.events}
          reasons={of.removed.map(({ reason, events }) => ({ reason, count: events }))}
          onPick={() => void navigate({ to: `/sites/${site}/events`, search: filteredIn(of) })}
        />
      </Stack>
    </ChartCard>
  );
}

const shownAtFirst = 4;

function Reasons({
  title,
  label,
  reasons,
  onPick,
}: {
  title: string;
  label: string;
  reasons: readonly { reason: string; count: number }[];
  onPick: () => void;
}) {
  const [showAll, setShowAll] = useState(false);
  const all = reasons.filter(({ count }) => count > 0).toSorted((one, other) => other.count - one.count);
  if (all.length === 0) return null;
  const shown = showAll ? all : all.slice(0, shownAtFirst);
  return (
    <div>
      <Title order={3} mb={4}>
        {title}{" "}
        <Text span size="xs" c="dimmed" className="cc-number">
          {countText(all.reduce((sum, { count }) => sum + count, 0))}
        </Text>
      </Title>
      <BarList
        label={label}
        items={shown.map(({ reason, count }) => ({
          name: reasonText(reason),
          key: reason,
          value: count,
          text: countText(count),
        }))}
        onPick={onPick}
      />
      {all.length > shown.length && (
        <Anchor component="button" type="button" size="sm" mt={4} ml={8} onClick={() => setShowAll(true)}>
          {overviewText.reasons.showAll(all.length)}
        </Anchor>
      )}
    </div>
  );
}

export function Duplicates({ site, of }: Props) {
  return (
    <ChartCard
      title={overviewText.duplicates.title}
      counts={overviewText.duplicates.about[of.step]}
      nothing={
        of.totals.duplicates === 0 ? (
          <>
            {overviewText.duplicates.none}{" "}
            <TextLink to={`/sites/${site}/configuration/deduplication`} underline="always">
              {overviewText.duplicates.how}
            </TextLink>
          </>
        ) : null
      }
    >
      <TimeChart
        label={overviewText.duplicates.chart[of.step]}
        {...stepsOf(of)}
        height={200}
        series={[
          {
            name: overviewText.duplicates.title,
            values: of.steps.map(({ duplicates }) => duplicates),
            tone: "accent",
          },
        ]}
        earlier={earlierOf(of, (before) => before.duplicates)}
      />
    </ChartCard>
  );
}
