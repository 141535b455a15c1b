// How the site is doing: numbers first, then charts, and beside them what arrives at this moment.

import { Grid, SimpleGrid, Skeleton, Stack } from "@mantine/core";
import { useAddress } from "../../common/address.ts";
import { Page } from "../../common/Page.tsx";
import { RangePicker } from "../../common/RangePicker.tsx";
import { isRange } from "../../common/ranges.ts";
import { useSite, useSiteId } from "../../common/session.tsx";
import { Fault } from "../../common/states.tsx";
import { Checklist } from "./Checklist.tsx";
import { ConversionsChart, ValueChart } from "./Conversions.tsx";
import { Deliveries } from "./Deliveries.tsx";
import { Feed } from "./Feed.tsx";
import { Numbers } from "./Numbers.tsx";
import { BotsByReason, BotsOverTime, Duplicates } from "./Removed.tsx";
import { ByEvent, MatchRate } from "./Shares.tsx";
import { useStatistics, type Statistics } from "./statistics.ts";

export default function Overview() {
  const site = useSiteId();
  const known = useSite();
  const timeZone = known?.timeZone;
  const { text, change } = useAddress();
  const asked = text("range");
  const range = isRange(asked) ? asked : "30d";
  const { data, error, refetch } = useStatistics(site, range, timeZone);
  const isNew = known?.health.lastEventAt === null && data !== undefined && isEmpty(data);
  return (
    <Page
      title="Overview"
      about={timeZone ? `Days and times are those of ${timeZone}.` : null}
      actions={
        isNew ? null : (
          <RangePicker
            value={range}
            onChange={(value) => change({ range: value === "30d" ? undefined : value })}
          />
        )
      }
    >
      <Checklist site={site} />
      {error && <Fault error={error} again={() => void refetch()} />}
      {isNew ? (
        <Feed key={site} site={site} />
      ) : (
        <>
          {data ? <Numbers site={site} of={data} /> : !error && <NumbersToCome />}
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
          {data && <Charts site={site} of={data} />}
        </>
      )}
    </Page>
  );
}

function Charts(props: { site: string; of: Statistics }) {
  return (
    <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="md">
      <Deliveries {...props} />
      <MatchRate {...props} />
      <BotsOverTime {...props} />
      <BotsByReason {...props} />
      <Duplicates {...props} />
      <ByEvent {...props} />
    </SimpleGrid>
  );
}

/** A site to which no event ever came is shown its first steps in place of empty charts. */
const isEmpty = ({ totals }: Statistics) => totals.conversions + totals.filtered + totals.test === 0;

function NumbersToCome() {
  return (
    <SimpleGrid cols={{ base: 2, md: 3, lg: 6 }} spacing="md" role="status" aria-label="Loading">
      {Array.from({ length: 6 }, (_, i) => (
        <Skeleton key={i} height={104} radius="md" />
      ))}
    </SimpleGrid>
  );
}
