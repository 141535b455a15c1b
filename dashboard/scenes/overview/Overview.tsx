// The overview of a site: key figures, charts and the live feed.

import "./overview.css";
import { CloseButton, Group, SimpleGrid, Skeleton, Stack, Text } from "@mantine/core";
import { Page } from "../../common/Page.tsx";
import { usePlatformName } from "../../common/api/platforms.ts";
import { useSite, useSiteId } from "../../common/api/session.ts";
import { rangeText } from "../../common/format/days.ts";
import { dayText } from "../../common/format/times.ts";
import { TestNotice, TestSwitch, useMode } from "../../common/lists/TestMode.tsx";
import { useQueryParams } from "../../common/lists/queryParams.ts";
import { PlatformMark } from "../../common/platforms/PlatformMark.tsx";
import { LoadError } from "../../common/states.tsx";
import { Checklist } from "./Checklist.tsx";
import { ConversionsChart, ValueChart } from "./Conversions.tsx";
import { Deliveries } from "./Deliveries.tsx";
import { Feed } from "./Feed.tsx";
import { Numbers } from "./Numbers.tsx";
import { BotsByReason, BotsOverTime, Duplicates } from "./Removed.tsx";
import { ByEvent, BySource, segmentName } from "./Breakdown.tsx";
import { MatchRate } from "./MatchRate.tsx";
import { PeriodPicker } from "./PeriodPicker.tsx";
import { periodOf, readPeriod } from "./periods.ts";
import { useSegment } from "./segments.ts";
import { commonText } from "../../messages/common.ts";
import { earlierRange, useStatistics, type Statistics } from "./statistics.ts";
import { overviewText } from "../../messages/overview.ts";

export default function Overview() {
  return useMode() === "test" ? <TestOverview /> : <LiveOverview />;
}

/** Test events are counted nowhere, so there are no figures of them. */
function TestOverview() {
  const site = useSiteId();
  return (
    <Page title={overviewText.title} actions={<TestSwitch />}>
      <TestNotice />
      <Feed key={`${site} test`} site={site} />
    </Page>
  );
}

function LiveOverview() {
  const site = useSiteId();
  const details = useSite();
  const timeZone = details?.timeZone;
  const { text, time } = useQueryParams();
  const period = readPeriod(text("range"), time("from"), time("to"));
  const { segment } = useSegment();
  const { data, error, refetch } = useStatistics(site, period, segment, timeZone);
  const shown = data ?? periodOf(period, timeZone, Date.now());
  const isNew = details?.health.figures?.lastEventAt === null && !segment && data !== undefined && isEmpty(data);
  return (
    <Page
      title={overviewText.title}
      about={!isNew && <About of={data} timeZone={timeZone} />}
      actions={
        <>
          <TestSwitch />
          {!isNew && <PeriodPicker chosen={period} timeZone={timeZone} />}
        </>
      }
    >
      <Checklist site={site} />
      <FilterLine />
      {error && <LoadError error={error} onRetry={() => void refetch()} />}
      {!isNew && (data ? <Numbers site={site} of={data} segment={segment} /> : !error && <NumbersSkeleton />)}
      <div className="cc-beside" data-alone={isNew || segment !== null}>
        {!isNew && (
          <div>
            {/* On a laptop both charts fit beside each other; wider, the feed stands beside them. */}
            {(data || !error) && (
              <SimpleGrid cols={{ base: 1, md: 2, lg: segment ? 2 : 1 }} spacing="md">
                <ConversionsChart site={site} of={shown} figures={data} />
                <ValueChart site={site} of={shown} figures={data} />
              </SimpleGrid>
            )}
          </div>
        )}
        {/* The feed has all events of the site. It stays where it is when a site turns out to be new, or it would begin twice.
            With the key, the rows of another site are discarded. */}
        {!segment && (
          <div>
            <Feed key={site} site={site} />
          </div>
        )}
      </div>
      {!isNew && data && <Charts site={site} of={data} />}
    </Page>
  );
}

/** Columns rather than rows: a short card beside a long one would be half empty. */
function Charts(props: { site: string; of: Statistics }) {
  // Visits and duplicates are counted for the whole site only.
  const isWhole = useSegment().segment === null;
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md">
      <Stack gap="md">
        <BySource {...props} />
        <Deliveries {...props} />
        {isWhole && <BotsOverTime {...props} />}
      </Stack>
      <Stack gap="md">
        <ByEvent {...props} />
        <MatchRate {...props} />
        {isWhole && <BotsByReason {...props} />}
        {isWhole && <Duplicates {...props} />}
      </Stack>
    </SimpleGrid>
  );
}

/** Names the days that are compared. */
function About({ of, timeZone }: { of: Statistics | undefined; timeZone: string | undefined }) {
  if (!of || !timeZone) return null;
  const before = earlierRange(of);
  const textOf = (from: number, to: number) =>
    of.step === "hour"
      ? rangeText(from, to, timeZone)
      : commonText.time.period(dayText(from, timeZone), dayText(to - 1, timeZone));
  return <>{overviewText.about(textOf(of.from, of.to), textOf(before.from, before.to), timeZone)}</>;
}

/** The filter of the page, and what it leaves out. */
function FilterLine() {
  const { segment, clear } = useSegment();
  const nameOf = usePlatformName();
  if (!segment) return null;
  const name = segment.kind === "platform" ? nameOf(segment.name) : segmentName(segment.name);
  return (
    <Group className="cc-card" px="md" py="xs" gap="xs" wrap="nowrap" role="status">
      {segment.kind === "platform" && <PlatformMark id={segment.name} size={20} />}
      <div style={{ flex: 1, minWidth: 0 }}>
        <Text size="sm" fw={500} truncate>
          {overviewText.filter[segment.kind](name)}
        </Text>
        <Text size="xs" c="dimmed">
          {overviewText.filter.about}
        </Text>
      </div>
      <CloseButton aria-label={overviewText.filter.clear} onClick={clear} />
    </Group>
  );
}

/** A site without events shows its first steps and the live feed instead of empty charts. */
const isEmpty = ({ totals }: Statistics) => totals.conversions + totals.filtered + totals.test === 0;

function NumbersSkeleton() {
  return (
    <SimpleGrid cols={{ base: 2, md: 3, lg: 6 }} spacing="md" role="status" aria-label={commonText.loading}>
      {Array.from({ length: 6 }, (_, i) => (
        <Skeleton key={i} height={132} radius="md" />
      ))}
    </SimpleGrid>
  );
}
