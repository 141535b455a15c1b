// Delivery states of the conversions, by platform.

import { Anchor, Box, Button, Group, Stack, Text } from "@mantine/core";
import { useState } from "react";
import { countText, percentText } from "../../common/format/numbers.ts";
import { usePlatformName } from "../../common/api/platforms.ts";
import { Link } from "@tanstack/react-router";
import { TextLink } from "../../common/links.tsx";
import { PlatformName } from "../../common/platforms/PlatformMark.tsx";
import { State } from "../../common/values.tsx";
import { ChartCard } from "./ChartCard.tsx";
import { valueText } from "./Breakdown.tsx";
import { logFilterOf, useSegment } from "./segments.ts";
import { sumOf, type DeliveryState, type Statistics } from "./statistics.ts";
import { overviewText } from "../../messages/overview.ts";
import { commonText } from "../../messages/common.ts";

const order: DeliveryState[] = ["sent", "queued", "parked", "rejected", "expired", "skipped"];
const colours: Record<DeliveryState, string> = {
  sent: "var(--cc-good)",
  queued: "var(--cc-wait)",
  parked: "var(--cc-warn)",
  rejected: "var(--cc-bad)",
  expired: "var(--cc-bad)",
  skipped: "light-dark(var(--mantine-color-gray-3), var(--mantine-color-dark-4))",
};

const shownAtFirst = 6;

export function Deliveries({ site, of }: { site: string; of: Statistics }) {
  const nameOf = usePlatformName();
  const { isChosen, toggle, segment } = useSegment();
  const times = { from: of.from, to: of.to, ...logFilterOf(segment) };
  const log = `/sites/${site}/integrations/log`;
  const platforms = of.platforms
    .map((one) => ({ ...one, all: sumOf(one.states) }))
    .filter(({ all }) => all > 0)
    .toSorted((one, other) => other.all - one.all);
  const [showAll, setShowAll] = useState(false);
  const shown = showAll ? platforms : platforms.slice(0, shownAtFirst);
  return (
    <ChartCard
      title={overviewText.deliveries.title}
      counts={overviewText.deliveries.about}
      rows={{ to: log, search: times, label: overviewText.deliveries.log }}
      nothing={
        platforms.length === 0 ? (
          <Stack align="center" gap="xs">
            {overviewText.deliveries.none}
            <Button component={Link} to={`/sites/${site}/integrations`} variant="default" size="compact-sm">
              {overviewText.deliveries.platforms}
            </Button>
          </Stack>
        ) : null
      }
    >
      <Stack gap="md" component="ul" m={0} p={0} style={{ listStyle: "none" }}>
        {shown.map(({ platform, states, values, all }) => (
          <li key={platform}>
            <Group justify="space-between" gap="0 var(--mantine-spacing-sm)">
              <PlatformName id={platform}>
                <Anchor
                  component="button"
                  type="button"
                  size="sm"
                  fw={500}
                  c="inherit"
                  ta="left"
                  title={overviewText.filter.hint}
                  aria-pressed={isChosen("platform", platform)}
                  onClick={() => toggle("platform", platform)}
                >
                  {nameOf(platform)}
                </Anchor>
              </PlatformName>
              <Text size="sm" c="dimmed" className="cc-number">
                {values.length > 0 && `${valueText(values)} · `}
                {overviewText.deliveries.share(percentText(states.sent ?? 0, all - (states.skipped ?? 0)))}
              </Text>
            </Group>
            <Group gap={1} h={6} my={6} bdrs="sm" wrap="nowrap" style={{ overflow: "hidden" }} aria-hidden>
              {order.map((state) => (
                <Box key={state} h="100%" style={{ flex: states[state] ?? 0, background: colours[state] }} />
              ))}
            </Group>
            <Group gap="0 var(--mantine-spacing-md)">
              {order
                .filter((state) => (states[state] ?? 0) > 0)
                .map((state) => (
                  <TextLink key={state} to={log} search={{ ...times, platform, state }} c="inherit">
                    <State
                      of={state}
                      word={overviewText.deliveries.state(countText(states[state] ?? 0), commonText.states[state])}
                    />
                  </TextLink>
                ))}
            </Group>
          </li>
        ))}
      </Stack>
      {platforms.length > shown.length && (
        <Anchor component="button" type="button" size="sm" mt="sm" onClick={() => setShowAll(true)}>
          {overviewText.reasons.showAll(platforms.length)}
        </Anchor>
      )}
    </ChartCard>
  );
}
