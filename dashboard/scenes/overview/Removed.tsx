// Bots and duplicates that were removed.

import { Anchor, Stack, Text, Title } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { BarList, TimeChart } from "../../common/Chart.tsx";
import { counted, countText } from "../../common/format/format.ts";
import { reasonText } from "../../common/format/reasons.ts";
import { ChartCard } from "./ChartCard.tsx";
import { endOfStep, filteredIn, useChartColours, type Statistics } from "./statistics.ts";
import { TextLink } from "../../common/links.tsx";

type Props = { site: string; of: Statistics };

const traffic = (site: string) => `/sites/${site}/configuration/traffic`;

export function BotsOverTime({ site, of }: Props) {
  const { accent, quiet } = useChartColours();
  const navigate = useNavigate();
  const none = of.totals.bots + of.totals.botEvents === 0;
  return (
    <ChartCard
      title="Bots removed"
      counts={`Bot visits and events filtered as bots, per ${of.step}. They are never sent to a platform.`}
      rows={{
        to: `/sites/${site}/events`,
        search: filteredIn(of),
        label: "Filtered events",
      }}
      nothing={
        none
          ? of.totals.people === 0
            ? "No visits in this period."
            : `No bots among ${counted(of.totals.people, "visit")} in this period.`
          : null
      }
    >
      <TimeChart
        label={`Bots removed per ${of.step}`}
        times={of.steps.map(({ startsAt }) => startsAt)}
        step={of.step}
        timeZone={of.timeZone}
        height={180}
        series={[
          { name: "Visits", values: of.steps.map(({ visits }) => visits.bots ?? 0), colour: quiet },
          { name: "Events", values: of.steps.map(({ botEvents }) => botEvents), colour: accent },
        ]}
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
      title="Removed by reason"
      counts="The strongest signal of each bot visit, and why events were filtered: as bots, or by your rules."
      rows={{ to: traffic(site), label: "Traffic filters" }}
      nothing={of.removed.length === 0 ? "Nothing was removed in this period." : null}
    >
      <Stack gap="md">
        <Reasons
          title="Visits"
          reasons={of.removed.map(({ reason, visits }) => ({ reason, count: visits }))}
          onPick={() => void navigate({ to: traffic(site) })}
        />
        <Reasons
          title="Events"
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
  reasons,
  onPick,
}: {
  title: string;
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
        label={`${title} removed by reason`}
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
          Show all {all.length}
        </Anchor>
      )}
    </div>
  );
}

export function Duplicates({ site, of }: Props) {
  const { accent } = useChartColours();
  return (
    <ChartCard
      title="Duplicates"
      counts={`Duplicates per ${of.step}: received again and not re-sent.`}
      rows={{ to: `/sites/${site}/configuration/deduplication`, label: "Deduplication" }}
      nothing={
        of.totals.duplicates === 0 ? (
          <>
            No duplicates in this period.{" "}
            <TextLink to={`/sites/${site}/configuration/deduplication`} underline="always">
              How duplicates are detected
            </TextLink>
          </>
        ) : null
      }
    >
      <TimeChart
        label={`Duplicates per ${of.step}`}
        times={of.steps.map(({ startsAt }) => startsAt)}
        step={of.step}
        timeZone={of.timeZone}
        height={180}
        series={[
          { name: "Duplicates", values: of.steps.map(({ duplicates }) => duplicates), colour: accent },
        ]}
      />
    </ChartCard>
  );
}
