// How the site is doing: numbers first, then charts, and beside them what arrives at this moment.

import { Grid, SimpleGrid, Skeleton, Stack } from "@mantine/core";
import { useAddress } from "../../common/address.ts";
import { Page } from "../../common/Page.tsx";
import { isRange, RangePicker } from "../../common/RangePicker.tsx";
import { useSite, useSiteId } from "../../common/session.tsx";
import { Fault } from "../../common/states.tsx";
import { Checklist } from "./Checklist.tsx";
import { ConversionsChart, ValueChart } from "./Conversions.tsx";
import { Deliveries } from "./Deliveries.tsx";
import { Feed } from "./Feed.tsx";
import { Numbers } from "./Numbers.tsx";
import { BotsByReason, BotsOverTime, Duplicates } from "./Removed.tsx";
import { ByEvent, MatchRate } from "./Shares.tsx";
import { useStatistics } from "./statistics.ts";

export default function Overview() {
  const site = useSiteId();
  const timeZone = useSite()?.timeZone;
  const { text, change } = useAddress();
  const asked = text("range");
  const range = isRange(asked) ? asked : "30d";
  const { data, error, refetch } = useStatistics(site, range);
  return (
    <Page
      title="Overview"
      about={timeZone ? `Days and times are those of ${timeZone}.` : null}
      actions={
        <RangePicker
          value={range}
          onChange={(value) => change({ range: value === "30d" ? undefined : value })}
        />
      }
    >
      <Checklist site={site} />
      {error ? (
        <Fault error={error} again={() => void refetch()} />
      ) : data ? (
        <Numbers site={site} of={data} />
      ) : (
        <NumbersToCome />
      )}
      <Grid gap="md">
        <Grid.Col span={{ base: 12, lg: 8 }}>
          <Stack gap="md">
            {data ? (
              <>
                <ConversionsChart site={site} of={data} />
                <ValueChart site={site} of={data} />
              </>
            ) : (
              !error && (
                <>
                  <Skeleton height={320} radius="md" />
                  <Skeleton height={320} radius="md" />
                </>
              )
            )}
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, lg: 4 }}>
          {/* Another site's rows must not stay. */}
          <Feed key={site} site={site} />
        </Grid.Col>
      </Grid>
      {data && (
        <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="md">
          <Deliveries site={site} of={data} />
          <MatchRate site={site} of={data} />
          <BotsOverTime site={site} of={data} />
          <BotsByReason site={site} of={data} />
          <Duplicates site={site} of={data} />
          <ByEvent site={site} of={data} />
        </SimpleGrid>
      )}
    </Page>
  );
}

function NumbersToCome() {
  return (
    <SimpleGrid cols={{ base: 2, md: 3, lg: 6 }} spacing="md" role="status" aria-label="Loading">
      {Array.from({ length: 6 }, (_, i) => (
        <Skeleton key={i} height={104} radius="md" />
      ))}
    </SimpleGrid>
  );
}
