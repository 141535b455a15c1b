// What was kept out of the numbers: bots and duplicates.

import { useNavigate } from "@tanstack/react-router";
import { BarList, TimeChart } from "../../common/Chart.tsx";
import { countText } from "../../common/format.ts";
import { reasonText } from "../events/parts.tsx";
import { ChartCard } from "./ChartCard.tsx";
import { endOfStep, useChartColours, type Statistics } from "./statistics.ts";
import { To } from "../../common/To.tsx";

type Props = { site: string; of: Statistics };

const traffic = (site: string) => `/sites/${site}/configuration/traffic`;

export function BotsOverTime({ site, of }: Props) {
  const { accent, quiet } = useChartColours();
  const navigate = useNavigate();
  const none = of.totals.bots + of.totals.filtered === 0;
  return (
    <ChartCard
      title="Bots removed"
      counts={`Visits by bots and filtered events per ${of.step}. They reach no platform.`}
      rows={{
        to: `/sites/${site}/events`,
        search: { from: of.from, to: of.to, status: "filtered" },
        label: "Filtered events",
      }}
      nothing={
        none
          ? of.totals.people === 0
            ? "No visit was reported in this time."
            : `No bot among ${countText(of.totals.people)} visits in this time.`
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
          { name: "Events", values: of.steps.map(({ filtered }) => filtered), colour: accent },
        ]}
        onPick={(startsAt) =>
          void navigate({
            to: `/sites/${site}/events`,
            search: { from: startsAt, to: endOfStep(of, startsAt), status: "filtered" },
          })
        }
      />
    </ChartCard>
  );
}

export function BotsByReason({ site, of }: Props) {
  const navigate = useNavigate();
  const removed = of.removed
    .map((one) => ({ ...one, all: one.visits + one.events }))
    .filter(({ all }) => all > 0)
    .toSorted((one, other) => other.all - one.all)
    .slice(0, 8);
  return (
    <ChartCard
      title="Bots removed by reason"
      counts="What weighed most against each removed visit or event."
      rows={{ to: traffic(site), label: "Traffic filters" }}
      nothing={removed.length === 0 ? "Nothing was removed in this time." : null}
    >
      <BarList
        label="Bots removed by reason"
        items={removed.map(({ reason, visits, events, all }) => ({
          name: reasonText(reason),
          key: reason,
          value: all,
          text: [
            visits > 0 ? `${countText(visits)} visits` : "",
            events > 0 ? `${countText(events)} events` : "",
          ]
            .filter(Boolean)
            .join(" · "),
        }))}
        onPick={() => void navigate({ to: traffic(site) })}
      />
    </ChartCard>
  );
}

export function Duplicates({ site, of }: Props) {
  const { accent } = useChartColours();
  return (
    <ChartCard
      title="Duplicates"
      counts={`Events per ${of.step} that had come before. They were answered, and not sent again.`}
      rows={{ to: `/sites/${site}/configuration/deduplication`, label: "Deduplication" }}
      nothing={
        of.totals.duplicates === 0 ? (
          <>
            No event came twice in this time.{" "}
            <To to={`/sites/${site}/configuration/deduplication`} underline="always">
              What makes two the same
            </To>
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
