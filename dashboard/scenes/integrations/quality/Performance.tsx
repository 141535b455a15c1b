// How long a platform takes, how many attempts are retries, and why attempts failed.

import { SegmentedControl, SimpleGrid, Stack, Text } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { Card } from "../../../common/Page.tsx";
import { Tile } from "../../../common/Tile.tsx";
import type { Answer } from "../../../common/api/api.ts";
import { useApi } from "../../../common/api/query.ts";
import { BarList } from "../../../common/charts/BarList.tsx";
import { TimeChart } from "../../../common/charts/TimeChart.tsx";
import { countText, percentText } from "../../../common/format/numbers.ts";
import { durationText } from "../../../common/format/times.ts";
import { searchOfMode } from "../../../common/lists/queryParams.ts";
import { LoadState } from "../../../common/states.tsx";
import { stateWord } from "../../../common/values.tsx";
import { resultsText } from "../../../messages/results.ts";
import { serverText } from "../../../messages/server.ts";
import type { Connection, Platform } from "../connections.tsx";

type Sums = Answer<"GET /sites/:site/connections/:connection/performance">;

export function Performance({ site, platform, connection }: { site: string; platform: Platform; connection: Connection | null }) {
  const texts = resultsText.performance;
  const [days, setDays] = useState<"1" | "7">("1");
  const { data, error, refetch } = useApi(
    "GET /sites/:site/connections/:connection/performance",
    { params: { site, connection: connection?.id ?? "" }, query: { days } },
    { enabled: connection !== null, everyMs: 60_000, keepPrevious: true },
  );
  if (!connection)
    return (
      <Card>
        <Text size="sm" c="dimmed">
          {texts.connectFirst(platform.name)}
        </Text>
      </Card>
    );
  return (
    <Stack gap="lg">
      <SegmentedControl
        style={{ alignSelf: "flex-start" }}
        aria-label={texts.period}
        value={days}
        onChange={setDays}
        data={[
          { value: "1", label: texts.day },
          { value: "7", label: texts.week },
        ]}
      />
      <LoadState of={{ data, error, refetch }} />
      {data && <Charts site={site} platform={platform} connection={connection.id} of={data} />}
    </Stack>
  );
}

function Charts({ site, platform, connection, of }: { site: string; platform: Platform; connection: string; of: Sums }) {
  const texts = resultsText.performance;
  const navigate = useNavigate();
  const { attempts, retries, failed, medianMs, p95Ms } = of.totals;
  const time = (ms: number | null) => (ms === null ? "–" : durationText(ms));
  const chart = {
    times: of.steps.map(({ startsAt }) => startsAt),
    step: of.step,
    timeZone: of.timeZone,
    height: 180,
    isRunning: true,
  };
  const toLog = (state: string) =>
    void navigate({
      to: `/sites/${site}/integrations/${platform.id}`,
      search: { connection, tab: "log", state, ...searchOfMode("all") },
    });
  return (
    <>
      <SimpleGrid cols={{ base: 2, md: 4 }} spacing="lg">
        <Tile label={texts.median} value={time(medianMs)}>
          {texts.attempts(attempts)}
        </Tile>
        <Tile label={texts.p95} value={time(p95Ms)}>
          {texts.aboutP95}
        </Tile>
        <Tile label={texts.retries} value={countText(retries)}>
          {texts.share(percentText(retries, attempts))}
        </Tile>
        <Tile label={texts.failed} value={countText(failed)}>
          {texts.share(percentText(failed, attempts))}
        </Tile>
      </SimpleGrid>
      {!of.isComplete && (
        <Text size="sm" c="dimmed">
          {texts.incomplete}
        </Text>
      )}
      <Card title={texts.latency} about={texts.aboutLatency(platform.name)}>
        {attempts === 0 ? (
          <Nothing />
        ) : (
          <TimeChart
            {...chart}
            label={texts.latency}
            axisText={durationText}
            series={[
              {
                name: texts.p95,
                values: of.steps.map((one) => one.p95Ms ?? 0),
                tone: "accent",
                text: durationText,
              },
            ]}
          />
        )}
      </Card>
      <Card title={texts.requests} about={texts.aboutRequests}>
        {attempts === 0 ? (
          <Nothing />
        ) : (
          <TimeChart
            {...chart}
            label={texts.requests}
            series={[
              { name: texts.retries, values: of.steps.map((one) => one.retries), tone: "quiet" },
              {
                name: texts.first,
                values: of.steps.map((one) => one.attempts - one.retries),
                tone: "accent",
              },
            ]}
          />
        )}
      </Card>
      <Card title={texts.reasons} about={texts.aboutReasons}>
        {of.reasons.length === 0 ? (
          <Text size="sm" c="dimmed">
            {texts.noneFailed}
          </Text>
        ) : (
          <BarList
            label={texts.reasons}
            hint={texts.toLog}
            onPick={(key) => toLog(key.split(" ", 1)[0] ?? "")}
            items={of.reasons.map(({ state, reason, attempts: count }) => ({
              key: `${state} ${reason ?? ""}`,
              name: reason === null ? stateWord(state) : texts.reason(stateWord(state), serverText(reason)),
              value: count,
              text: countText(count),
            }))}
          />
        )}
      </Card>
    </>
  );
}

function Nothing() {
  return (
    <Text size="sm" c="dimmed">
      {resultsText.performance.nothing}
    </Text>
  );
}
