// The last events, as they arrive.

import { Box, Group, Text, VisuallyHidden } from "@mantine/core";
import { useThrottledCallback } from "@mantine/hooks";
import { useQueryClient } from "@tanstack/react-query";
import { Radio } from "lucide-react";
import { useState } from "react";
import { Card } from "../../common/Page.tsx";
import { useFeed, type EventSummary, type FeedState } from "../../common/api/feed.ts";
import { useApi } from "../../common/api/query.ts";
import { TextLink } from "../../common/links.tsx";
import { OtherMode, useMode } from "../../common/lists/TestMode.tsx";
import { Empty, LoadState } from "../../common/states.tsx";
import { Money, TestBadge, Time } from "../../common/values.tsx";
import { DeliveryStates, EventStatus, isUnreleased, tracePath } from "../events/eventCells.tsx";
import { feedLength, newestEvents } from "./askEarly.ts";
import { commonText } from "../../messages/common.ts";
import { overviewText } from "../../messages/overview.ts";

export function Feed({ site }: { site: string }) {
  const client = useQueryClient();
  const mode = useMode();
  const isTest = mode === "test";
  const list = useApi("GET /sites/:site/events", newestEvents(site, mode));
  const [received, setReceived] = useState<ReadonlyMap<string, EventSummary>>(new Map());
  const [announcement, setAnnouncement] = useState("");
  // Throttled: screen readers announce a burst once, and the figures are refreshed once.
  const announce = useThrottledCallback((event: EventSummary) => setAnnouncement(overviewText.feed.new(event.event)), 8_000);
  const refreshFigures = useThrottledCallback(() => {
    void client.invalidateQueries({ queryKey: ["GET /sites/:site/statistics"] });
    void client.invalidateQueries({ queryKey: ["GET /sites/:site/checklist"] });
  }, 8_000);
  const known = new Map([...(list.data?.items ?? []).map((one) => [one.id, one] as const), ...received]);
  const state = useFeed(
    site,
    (event) => {
      // The first steps are also done with test events.
      if (!known.has(event.id)) refreshFigures();
      if (event.mode !== mode) return;
      if (!known.has(event.id)) announce(event);
      setReceived((before) => new Map([...before, [event.id, event] as const].slice(-100)));
    },
    () => void list.refetch(),
  );
  // Ids are ordered by time.
  const rows = [...known.values()].toSorted((one, other) => (one.id < other.id ? 1 : -1)).slice(0, feedLength);
  return (
    <Card
      title={isTest ? overviewText.feed.testTitle : overviewText.feed.title}
      about={overviewText.feed.about}
      actions={<FeedMark state={state} />}
      padded={false}
    >
      <VisuallyHidden role="status" aria-live="polite">
        {announcement}
      </VisuallyHidden>
      {list.error || !list.data || rows.length === 0 ? (
        <LoadState
          of={list}
          rows={6}
          height={44}
          empty={
            <Empty
              icon={Radio}
              title={isTest ? commonText.testData.noEvents : overviewText.feed.emptyTitle}
              action={<OtherMode />}
            >
              {isTest ? commonText.testData.sendOne : overviewText.feed.empty}
            </Empty>
          }
        />
      ) : (
        <Box component="ul" m={0} p={0} className="cc-list cc-lines">
          {rows.map((event) => (
            <FeedLine key={event.id} site={site} event={event} />
          ))}
        </Box>
      )}
    </Card>
  );
}

function FeedLine({ site, event }: { site: string; event: EventSummary }) {
  return (
    <Box component="li" px="md" py="xs">
      <Group justify="space-between" gap="sm" wrap="nowrap">
        <Group gap={8} wrap="nowrap" style={{ minWidth: 0 }}>
          <TextLink to={tracePath(site, event.id)} fw={500} c="inherit" truncate>
            {event.event}
          </TextLink>
          {event.mode === "test" && <TestBadge />}
        </Group>
        <Text size="sm" fw={500} component="span" style={{ whiteSpace: "nowrap" }}>
          <Money value={event.value} currency={event.currency} />
        </Text>
      </Group>
      <Group justify="space-between" gap="sm" wrap="nowrap">
        <Group gap="2px 12px">
          {isUnreleased(event) ? <EventStatus event={event} /> : <DeliveryStates event={event} brief />}
        </Group>
        <Text size="xs" c="dimmed" component="span">
          <Time at={event.receivedAt} />
        </Text>
      </Group>
    </Box>
  );
}

const colours: Record<FeedState, string> = {
  live: "var(--cc-good)",
  reconnecting: "var(--cc-warn)",
  connecting: "var(--cc-quiet)",
};

function FeedMark({ state }: { state: FeedState }) {
  return (
    <Group gap={6} wrap="nowrap" role="status" aria-label={overviewText.feed.stateLabel(overviewText.feed.states[state])}>
      <Box w={8} h={8} bdrs="xl" bg={colours[state]} aria-hidden />
      <Text size="sm" c="dimmed" component="span">
        {overviewText.feed.states[state]}
      </Text>
    </Group>
  );
}
