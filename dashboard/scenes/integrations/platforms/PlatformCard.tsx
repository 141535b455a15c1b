// One platform with the health of its connections.

import { Box, Divider, Group, SimpleGrid, Stack, Text, Title } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { countText, percentText } from "../../../common/format/numbers.ts";
import { PlatformMark } from "../../../common/platforms/PlatformMark.tsx";
import { Time } from "../../../common/values.tsx";
import { accountOf, ConnectionState, Fact, type Connection, type Platform } from "../connections.tsx";
import { RepairButton } from "../RepairButton.tsx";
import { repairOf } from "../repairs.ts";
import { integrationsText } from "../../../messages/integrations.ts";
import { serverText } from "../../../messages/server.ts";

export function PlatformCard({
  site,
  platform,
  connections,
  mayConnect = false,
}: {
  site: string;
  platform: Platform;
  connections: readonly Connection[];
  mayConnect?: boolean;
}) {
  return (
    <Box component="article" className="cc-card cc-row" p="md" pos="relative">
      <Stack gap="sm" h="100%">
        <Group wrap="nowrap" align="flex-start" gap="sm">
          <PlatformMark id={platform.id} size={36} />
          <Box style={{ flex: 1, minWidth: 0 }}>
            <Title order={3}>
              <Link to={`/sites/${site}/integrations/${platform.id}`} className="cc-plain cc-stretch">
                {platform.name}
              </Link>
            </Title>
            <Text size="sm" c="dimmed" mt={2}>
              {platform.description}
            </Text>
          </Box>
        </Group>
        {connections.map((connection) => (
          <ConnectionLine
            key={connection.id}
            site={site}
            platform={platform}
            connection={connection}
            isOneOfSeveral={connections.length > 1}
          />
        ))}
        {mayConnect && (
          <Text size="sm" fw={500} c="var(--cc-wait)" mt="auto" aria-hidden>
            {integrationsText.connect}
          </Text>
        )}
      </Stack>
    </Box>
  );
}

function ConnectionLine({
  site,
  platform,
  connection,
  isOneOfSeveral,
}: {
  site: string;
  platform: Platform;
  connection: Connection;
  isOneOfSeveral: boolean;
}) {
  const { sent, others } = connection.attempts24h;
  const account = accountOf(platform, connection);
  return (
    <Stack gap="xs" mt="auto">
      <Divider color="var(--cc-line)" />
      <Group justify="space-between" wrap="nowrap" gap="xs">
        <ConnectionState connection={connection} />
        {isOneOfSeveral && account && (
          <Text size="xs" c="dimmed" className="cc-mono" truncate>
            {account}
          </Text>
        )}
      </Group>
      {connection.stateReason && connection.state !== "active" && (
        <Text size="sm" c="dimmed" lineClamp={2}>
          {serverText(connection.stateReason)}
        </Text>
      )}
      {connection.state === "active" && connection.sendsNothing !== null && (
        <Text size="sm" c="dimmed" lineClamp={2}>
          {integrationsText.card.sendsNothing(serverText(connection.sendsNothing))}
        </Text>
      )}
      <RepairButton
        site={site}
        repair={repairOf(connection.state === "active" ? (connection.sendsNothing ?? "") : connection.state, {
          platform: platform.id,
          connection: connection.id,
          name: platform.name,
        })}
      />
      <SimpleGrid cols={3} spacing="xs">
        <Fact label={integrationsText.card.lastSent}>
          <Time at={connection.lastSentAt} />
        </Fact>
        <Fact label={integrationsText.card.waiting}>{countText(connection.waiting)}</Fact>
        <Fact label={integrationsText.card.accepted}>
          {sent + others === 0 ? (
            <span className="cc-quiet">{integrationsText.card.nothingSent}</span>
          ) : (
            <span title={integrationsText.card.attempts(countText(sent), sent + others)}>{percentText(sent, sent + others)}</span>
          )}
        </Fact>
      </SimpleGrid>
    </Stack>
  );
}
