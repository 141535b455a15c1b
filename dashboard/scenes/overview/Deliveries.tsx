// Delivery states of the conversions, by platform.

import { Box, Button, Group, Stack, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { countText, percentText } from "../../common/format/format.ts";
import { usePlatformName } from "../../common/api/platforms.ts";
import { State } from "../../common/values.tsx";
import { ChartCard } from "./ChartCard.tsx";
import { sumOf, type DeliveryState, type Statistics } from "./statistics.ts";
import { TextLink } from "../../common/links.tsx";

const order: DeliveryState[] = ["sent", "queued", "parked", "rejected", "expired", "skipped"];
const colours: Record<DeliveryState, string> = {
  sent: "var(--cc-good)",
  queued: "var(--cc-wait)",
  parked: "var(--cc-warn)",
  rejected: "var(--cc-bad)",
  expired: "var(--cc-bad)",
  skipped: "light-dark(var(--mantine-color-gray-3), var(--mantine-color-dark-4))",
};

export function Deliveries({ site, of }: { site: string; of: Statistics }) {
  const nameOf = usePlatformName();
  const times = { from: of.from, to: of.to, mode: "live" };
  const log = `/sites/${site}/integrations/log`;
  const platforms = of.platforms
    .map((one) => ({ ...one, all: sumOf(one.states) }))
    .filter(({ all }) => all > 0)
    .toSorted((one, other) => other.all - one.all);
  return (
    <ChartCard
      title="Deliveries by platform"
      counts="Current delivery status of these conversions. Skipped deliveries did not apply to the platform."
      rows={{ to: log, search: times, label: "Sync log" }}
      nothing={
        platforms.length === 0 ? (
          <Stack align="center" gap="xs">
            No deliveries in this period.
            <Button component={Link} to={`/sites/${site}/integrations`} variant="default" size="compact-sm">
              Platforms
            </Button>
          </Stack>
        ) : null
      }
    >
      <Stack gap="md" component="ul" m={0} p={0} style={{ listStyle: "none" }}>
        {platforms.map(({ platform, states, all }) => (
          <li key={platform}>
            <Group justify="space-between" gap="sm" wrap="nowrap">
              <TextLink to={log} search={{ ...times, platform }} fw={500} c="inherit">
                {nameOf(platform)}
              </TextLink>
              <Text size="sm" c="dimmed" className="cc-number">
                {percentText(states.sent ?? 0, all - (states.skipped ?? 0))} delivered
              </Text>
            </Group>
            <Box aria-hidden className="cc-shares" my={6}>
              {order.map((state) => (
                <Box key={state} style={{ flex: states[state] ?? 0, background: colours[state] }} />
              ))}
            </Box>
            <Group gap="md">
              {order
                .filter((state) => (states[state] ?? 0) > 0)
                .map((state) => (
                  <Link key={state} to={log} search={{ ...times, platform, state }} className="cc-plain">
                    <State of={state} word={`${countText(states[state] ?? 0)} ${state}`} />
                  </Link>
                ))}
            </Group>
          </li>
        ))}
      </Stack>
    </ChartCard>
  );
}
