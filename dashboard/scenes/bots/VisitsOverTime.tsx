// Visits of bots, and suspicious visits of people, by day.

import { useState } from "react";
import { Card } from "../../common/Page.tsx";
import { useApi } from "../../common/api/query.ts";
import { useSiteId } from "../../common/api/session.ts";
import { TimeChart } from "../../common/charts/TimeChart.tsx";
import { rangeOf } from "../../common/format/ranges.ts";
import { LoadState } from "../../common/states.tsx";
import { botsText } from "../../messages/bots.ts";

export function VisitsOverTime() {
  const site = useSiteId();
  const [{ from, to }] = useState(() => rangeOf("30d", undefined));
  const { data, error, refetch } = useApi("GET /sites/:site/statistics", {
    params: { site },
    query: { from, to, step: "day" },
  });
  const texts = botsText.overTime;
  const hasAny = data?.steps.some(({ visits, suspicious }) => (visits.bots ?? 0) + suspicious > 0);
  if (data && !hasAny) return null;
  return (
    <Card title={texts.title} about={texts.about}>
      <LoadState of={{ data, error, refetch }} />
      {data && (
        <TimeChart
          label={texts.chart}
          times={data.steps.map(({ startsAt }) => startsAt)}
          step="day"
          timeZone={data.timeZone}
          height={160}
          isRunning
          series={[
            { name: botsText.visits.kinds.bots, values: data.steps.map(({ visits }) => visits.bots ?? 0), tone: "accent" },
            { name: botsText.visits.kinds.suspicious, values: data.steps.map(({ suspicious }) => suspicious), tone: "quiet" },
          ]}
        />
      )}
    </Card>
  );
}
