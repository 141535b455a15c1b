// Match quality and confirmations of all connections, as one table.

import { Stack, Text } from "@mantine/core";
import { Gauge } from "lucide-react";
import { Card, Page } from "../../../common/Page.tsx";
import type { Answer } from "../../../common/api/api.ts";
import { usePlatformName } from "../../../common/api/platforms.ts";
import { useApi } from "../../../common/api/query.ts";
import { useSiteId } from "../../../common/api/session.ts";
import { countText, decimalText, percentText } from "../../../common/format/numbers.ts";
import { DocsLink, TextLink } from "../../../common/links.tsx";
import { Rows, type Column } from "../../../common/lists/Rows.tsx";
import { searchOfMode } from "../../../common/lists/queryParams.ts";
import { PlatformName } from "../../../common/platforms/PlatformMark.tsx";
import { SettingsCard, SiteSettings } from "../../../common/settings/SettingsCard.tsx";
import { SwitchField } from "../../../common/settings/settingFields.tsx";
import { integrationsText } from "../../../messages/integrations.ts";
import { resultsText } from "../../../messages/results.ts";
import { Empty } from "../../../common/states.tsx";
import { ConnectAny, accountOf, tabsOf, useConnections, usePlatforms } from "../connections.tsx";

export type ConnectionQuality = Answer<"GET /sites/:site/quality">["items"][number];

const dash = <span className="cc-quiet">–</span>;
const share = (value: number) => percentText(value, 1);

export default function Quality() {
  const site = useSiteId();
  const { data, error, refetch } = useApi("GET /sites/:site/quality", { params: { site } });
  const columns = useColumns(site);
  return (
    <Page title={integrationsText.title} about={resultsText.table.about} tabs={tabsOf(site)} tab="quality">
      <Card
        padded={false}
        title={resultsText.table.title}
        about={<DocsLink page="reference/match-quality">{resultsText.table.learn}</DocsLink>}
      >
        <Rows
          label={resultsText.table.title}
          columns={columns}
          rows={data?.items}
          keyOf={({ connection }) => connection}
          error={error}
          onRetry={() => void refetch()}
          to={({ connection }) => ({ to: `/sites/${site}/integrations/quality/${connection}` })}
          empty={
            <Empty icon={Gauge} title={resultsText.table.none} action={<ConnectAny site={site} />}>
              {resultsText.table.noneMore}
            </Empty>
          }
        />
      </Card>
      <SiteSettings>
        <SettingsCard
          title={resultsText.table.refunds}
          about={resultsText.table.refundsAbout}
          fields={(form) => <SwitchField form={form} name="corrections" help={resultsText.table.corrections} />}
        >
          <Text size="sm" mt="sm">
            <DocsLink page="how-to/refunds">{resultsText.table.refundsLearn}</DocsLink>
          </Text>
        </SettingsCard>
      </SiteSettings>
    </Page>
  );
}

function useColumns(site: string): Column<ConnectionQuality>[] {
  return [
    { title: resultsText.table.connection, cell: (row) => <ConnectionCell site={site} row={row} /> },
    { title: resultsText.table.score, align: "right", cell: ({ score }) => scoreText(score) ?? dash },
    {
      title: resultsText.table.keys,
      wide: true,
      cell: ({ keys }) =>
        keys.length
          ? keys.map(({ key, coverage }) => resultsText.table.carries(resultsText.matchKeys[key], share(coverage))).join(", ")
          : dash,
    },
    {
      title: resultsText.table.fresh,
      align: "right",
      wide: true,
      cell: ({ withinHour }) => (withinHour === null ? dash : share(withinHour)),
    },
    { title: resultsText.table.says, wide: true, cell: ({ snapshot }) => saidBy(snapshot) ?? dash },
    {
      title: resultsText.table.confirmed,
      align: "right",
      wide: true,
      cell: ({ confirmations }) => (isAnswered(confirmations) ? countText(confirmations.confirmed) : dash),
    },
    {
      title: resultsText.table.notCounted,
      align: "right",
      cell: ({ confirmations, connection }) =>
        !isAnswered(confirmations) ? (
          dash
        ) : confirmations.notCounted > 0 ? (
          <TextLink
            to={`/sites/${site}/integrations/log`}
            search={{ connection, confirmation: "not counted", ...searchOfMode("live") }}
          >
            {countText(confirmations.notCounted)}
          </TextLink>
        ) : (
          countText(0)
        ),
    },
  ];
}

type Sums = ConnectionQuality["confirmations"];

/** A platform that is asked only about some conversions, or has not answered yet, says nothing: a zero would be a statement. */
const isAnswered = (sums: Sums): sums is NonNullable<Sums> => sums !== null && sums.confirmed + sums.notCounted > 0;

/** The score of a connection without conversions, or of a platform that takes no match key, is unknown. */
export const scoreText = (score: number | null) => (score === null ? null : decimalText(score));

/** The newest words of the platform itself, in short. */
export function saidBy(snapshot: ConnectionQuality["snapshot"]): string | null {
  const said = (snapshot?.reports ?? []).flatMap(({ event, score, maxScore, rating }) => {
    const words =
      score === null
        ? rating
        : maxScore === null
          ? countText(score)
          : resultsText.table.ofScore(countText(score), countText(maxScore));
    return words === null ? [] : [event ? `${event} ${words}` : words];
  });
  return said.length ? said.join(", ") : null;
}

function ConnectionCell({ site, row }: { site: string; row: ConnectionQuality }) {
  const nameOf = usePlatformName();
  const platform = usePlatforms().data?.items.find(({ id }) => id === row.platform);
  const connection = useConnections(site).data?.items.find(({ id }) => id === row.connection);
  return (
    <Stack gap={0}>
      <PlatformName id={row.platform}>
        <TextLink to={`/sites/${site}/integrations/quality/${row.connection}`} fw={500} c="inherit">
          {nameOf(row.platform)}
        </TextLink>
      </PlatformName>
      <Text size="xs" c="dimmed">
        {[platform && connection && accountOf(platform, connection), resultsText.table.ofConversions(countText(row.conversions))]
          .filter(Boolean)
          .join(" · ")}
      </Text>
    </Stack>
  );
}
