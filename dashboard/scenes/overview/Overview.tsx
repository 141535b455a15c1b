// The overview of a site: key figures, charts and the live feed.

import { Grid, SimpleGrid, Skeleton, Stack, Group, SegmentedControl } from "@mantine/core";
import { Page } from "../../common/Page.tsx";
import { useSite, useSiteId } from "../../common/api/session.ts";
import { isRange, rangeNames, type RangeName } from "../../common/format/ranges.ts";
import { useQueryParams } from "../../common/lists/queryParams.ts";
import { LoadError } from "../../common/states.tsx";
import { Checklist } from "./Checklist.tsx";
import { ConversionsChart, ValueChart } from "./Conversions.tsx";
import { Deliveries } from "./Deliveries.tsx";
import { Feed } from "./Feed.tsx";
import { Numbers } from "./Numbers.tsx";
import { BotsByReason, BotsOverTime, Duplicates } from "./Removed.tsx";
import { ByEvent, MatchRate } from "./Shares.tsx";
import { commonText } from "../../messages/common.ts";
import { useStatistics, type Statistics } from "./statistics.ts";
import { overviewText } from "../../messages/overview.ts";

export default function Overview() {
  const site = useSiteId();
  const details = useSite();
  const timeZone = details?.timeZone;
  const { text, change } = useQueryParams();
  const requested = text("range");
  const range = isRange(requested) ? requested : "30d";
  const { data, error, refetch } = useStatistics(site, range, timeZone);
  const isNew = details?.health.lastEventAt === null && data !== undefined && isEmpty(data);
  return (
    <Page
      title={overviewText.title}
      about={timeZone ? overviewText.timeZone(timeZone) : null}
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
      {error && <LoadError error={error} onRetry={() => void refetch()} />}
      {isNew ? (
        <Feed key={site} site={site} />
      ) : (
        <>
          {data ? <Numbers site={site} of={data} /> : !error && <NumbersSkeleton />}
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
              {/* With the key, the rows of another site are discarded. */}
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

/** A site without events shows its first steps and the live feed instead of empty charts. */
const isEmpty = ({ totals }: Statistics) => totals.conversions + totals.filtered + totals.test === 0;

function NumbersSkeleton() {
  return (
    <SimpleGrid cols={{ base: 2, md: 3, lg: 6 }} spacing="md" role="status" aria-label={commonText.loading}>
      {Array.from({ length: 6 }, (_, i) => (
        <Skeleton key={i} height={104} radius="md" />
      ))}
    </SimpleGrid>
  );
}

/** The period is part of the URL, so that a link shows the same. */
function RangePicker({ value, onChange }: { value: RangeName; onChange: (value: RangeName) => void }) {
  return (
    <Group gap="xs">
      <SegmentedControl
        size="xs"
        aria-label={overviewText.range}
        value={value}
        onChange={onChange}
        data={rangeNames.map((name) => ({ value: name, label: commonText.ranges[name] }))}
      />
    </Group>
  );
}
