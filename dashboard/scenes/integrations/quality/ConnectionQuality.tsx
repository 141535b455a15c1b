// Match quality and confirmations of one connection: coverage of keys, what would raise it, and what the platform itself says.

import { Box, Group, List, Progress, SimpleGrid, Stack, Text } from "@mantine/core";
import { Gauge } from "lucide-react";
import { Card, Page } from "../../../common/Page.tsx";
import type { Answer } from "../../../common/api/api.ts";
import { usePlatformName } from "../../../common/api/platforms.ts";
import { useApi } from "../../../common/api/query.ts";
import { useSiteId, usePathParameter } from "../../../common/api/session.ts";
import { countText, percentText } from "../../../common/format/numbers.ts";
import { DocsLink, TextLink } from "../../../common/links.tsx";
import { Rows } from "../../../common/lists/Rows.tsx";
import { searchOfMode } from "../../../common/lists/queryParams.ts";
import { PlatformMark } from "../../../common/platforms/PlatformMark.tsx";
import { Empty, LoadState } from "../../../common/states.tsx";
import { commonText } from "../../../messages/common.ts";
import { resultsText } from "../../../messages/results.ts";
import { serverText } from "../../../messages/server.ts";
import { State } from "../../../common/values.tsx";
import { Fact } from "../connections.tsx";
import { saidBy, scoreText, type ConnectionQuality as Quality } from "./Quality.tsx";

type Snapshot = Answer<"GET /sites/:site/connections/:connection/quality">["items"][number];

const dash = <span className="cc-quiet">–</span>;

export default function ConnectionQuality() {
  const site = useSiteId();
  const id = usePathParameter("connection");
  const nameOf = usePlatformName();
  const { data, error, refetch } = useApi("GET /sites/:site/quality", { params: { site } });
  const quality = data?.items.find(({ connection }) => connection === id);
  return (
    <Page
      title={quality ? resultsText.connection.title(nameOf(quality.platform)) : resultsText.connection.unknownTitle}
      mark={quality && <PlatformMark id={quality.platform} size={24} />}
      back={{ to: `/sites/${site}/integrations/quality`, label: resultsText.connection.back }}
    >
      {quality ? (
        <>
          <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
            <Carried of={quality} />
            <Confirmations site={site} of={quality} />
          </SimpleGrid>
          <Snapshots site={site} connection={id} />
        </>
      ) : (
        <LoadState
          of={{ data, error, refetch }}
          empty={
            <Empty icon={Gauge} title={resultsText.connection.notFound}>
              {resultsText.connection.notFoundMore}
            </Empty>
          }
        />
      )}
    </Page>
  );
}

function Carried({ of: { conversions, score, keys, withinHour, improvements } }: { of: Quality }) {
  const shown = scoreText(score);
  return (
    <Card
      title={resultsText.connection.carried}
      about={conversions ? resultsText.connection.carriedAbout(countText(conversions)) : resultsText.connection.nothingSent}
    >
      <Stack gap="md">
        <Group gap="xl">
          <Fact label={resultsText.connection.score}>
            {shown === null ? commonText.states.unknown : resultsText.connection.ofTen(shown)}
          </Fact>
          <Fact label={resultsText.connection.fresh}>
            {withinHour === null ? commonText.states.unknown : percentText(withinHour, 1)}
          </Fact>
        </Group>
        {keys.length === 0 && <Text size="sm">{resultsText.connection.noKeys}</Text>}
        {conversions > 0 &&
          keys.map(({ key, coverage }) => (
            <Box key={key}>
              <Group justify="space-between">
                <Text size="sm">{resultsText.matchKeys[key]}</Text>
                <Text size="sm" className="cc-number">
                  {percentText(coverage, 1)}
                </Text>
              </Group>
              <Progress value={coverage * 100} aria-label={resultsText.matchKeys[key]} size="sm" mt={2} />
            </Box>
          ))}
        <Box>
          <Text size="sm" fw={500}>
            {resultsText.connection.improve}
          </Text>
          {improvements.length === 0 ? (
            <Text size="sm" c="dimmed">
              {resultsText.connection.nothing}
            </Text>
          ) : (
            <List size="sm" spacing={4}>
              {improvements.map(({ text }) => (
                <List.Item key={text}>{serverText(text)}</List.Item>
              ))}
            </List>
          )}
        </Box>
      </Stack>
    </Card>
  );
}

function Confirmations({ site, of: { connection, confirmations } }: { site: string; of: Quality }) {
  if (!confirmations)
    return (
      <Card title={resultsText.connection.confirmations}>
        <Text size="sm">{resultsText.connection.notAsked}</Text>
      </Card>
    );
  const log = `/sites/${site}/integrations/log`;
  const ofConnection = { connection, ...searchOfMode("live") };
  const counts = {
    confirmed: confirmations.confirmed,
    "not counted": confirmations.notCounted,
    unknown: confirmations.unknown,
  };
  const states = Object.keys(counts) as (keyof typeof counts)[];
  return (
    <Card title={resultsText.connection.confirmations} about={resultsText.connection.confirmationsAbout}>
      <Stack gap="sm">
        {states.map((state) => (
          <TextLink key={state} to={log} search={{ ...ofConnection, confirmation: state }} c="inherit">
            <State of={state} word={resultsText.connection.counted(countText(counts[state]), commonText.states[state])} />
          </TextLink>
        ))}
        {confirmations.reasons.length > 0 && (
          <Box>
            <Text size="sm" fw={500}>
              {resultsText.connection.reasons}
            </Text>
            <List size="sm" spacing={4}>
              {confirmations.reasons.map(({ state, reason, conversions }) => (
                <List.Item key={`${state} ${reason}`}>
                  <TextLink to={log} search={{ ...ofConnection, confirmation: state, confirmationReason: reason }}>
                    {resultsText.connection.countedBecause(
                      countText(conversions),
                      commonText.states[state],
                      resultsText.reasons[reason],
                    )}
                  </TextLink>
                </List.Item>
              ))}
            </List>
          </Box>
        )}
        <DocsLink page="how-to/why-google-counts-fewer">
          <Text size="sm" component="span">
            {resultsText.connection.learn}
          </Text>
        </DocsLink>
      </Stack>
    </Card>
  );
}

function Snapshots({ site, connection }: { site: string; connection: string }) {
  const { data, error, refetch } = useApi("GET /sites/:site/connections/:connection/quality", {
    params: { site, connection },
  });
  return (
    <Card padded={false} title={resultsText.connection.platformSays} about={resultsText.connection.platformSaysAbout}>
      <Rows<Snapshot>
        label={resultsText.connection.platformSays}
        rows={data?.items}
        keyOf={({ day }) => day}
        error={error}
        onRetry={() => void refetch()}
        columns={[
          { title: resultsText.connection.day, cell: ({ day }) => day },
          { title: resultsText.connection.score, cell: (snapshot) => saidBy(snapshot) ?? dash },
          {
            title: resultsText.connection.notes,
            wide: true,
            cell: ({ reports }) => reports.flatMap(({ notes }) => notes).join("; ") || dash,
          },
        ]}
        empty={
          <Text size="sm" p="md" c="dimmed">
            {resultsText.connection.noSnapshot}
          </Text>
        }
      />
    </Card>
  );
}
