// All sites with their health.

import { Box, Group, Stack, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { Globe } from "lucide-react";
import { Card, Page } from "../../common/Page.tsx";
import { useMay, useSites, type Site } from "../../common/api/session.ts";
import { countText } from "../../common/format/numbers.ts";
import { TextLink } from "../../common/links.tsx";
import { Rows, type Column } from "../../common/lists/Rows.tsx";
import { searchOfMode } from "../../common/lists/queryParams.ts";
import { Empty } from "../../common/states.tsx";
import { State, Time } from "../../common/values.tsx";
import { AddSite } from "./AddSite.tsx";
import { sitesText } from "../../messages/sites.ts";
import { commonText } from "../../messages/common.ts";

const overview = (site: Site) => `/sites/${site.id}/overview`;

function hostsText({ hosts, name }: Site): string {
  const [first = "", ...more] = hosts;
  if (more.length === 0) return first === name ? "" : first;
  return sitesText.moreHosts(first, more.length);
}

const columns = (): Column<Site>[] => [
  {
    title: sitesText.site,
    cell: (site) => (
      <Stack gap={0}>
        <TextLink to={overview(site)} fw={500} c="inherit">
          {site.name}
        </TextLink>
        <Text size="xs" c="dimmed" title={site.hosts.join("\n")}>
          {hostsText(site)}
        </Text>
        {site.health.openAlerts > 0 && (
          <Box hiddenFrom="sm">
            <Alerts site={site} />
          </Box>
        )}
      </Stack>
    ),
  },
  {
    title: sitesText.conversions,
    align: "right",
    cell: ({ health }) => countText(health.conversions24h),
  },
  {
    title: sitesText.bots,
    align: "right",
    wide: true,
    cell: ({ health }) => countText(health.removed24h),
  },
  { title: sitesText.connections, wide: true, cell: (site) => <Connections site={site} /> },
  {
    title: sitesText.waiting,
    align: "right",
    wide: true,
    cell: (site) =>
      site.health.waiting === 0 ? (
        <span className="cc-quiet">0</span>
      ) : (
        <TextLink to={`/sites/${site.id}/integrations/log`} search={{ state: "waiting", ...searchOfMode("all") }}>
          {countText(site.health.waiting)}
        </TextLink>
      ),
  },
  {
    title: sitesText.lastEvent,
    wide: true,
    cell: ({ health }) => <Time at={health.lastEventAt} none={sitesText.noEvent} />,
  },
  { title: sitesText.alerts, wide: true, cell: (site) => <Alerts site={site} /> },
];

export default function Sites() {
  const { data, error, refetch } = useSites();
  const mayAdd = useMay("admin", null);
  return (
    <Page title={sitesText.title} about={sitesText.about} actions={mayAdd ? <AddSite /> : null}>
      <Card padded={false}>
        <Rows
          label={sitesText.title}
          columns={columns()}
          rows={data?.items}
          keyOf={({ id }) => id}
          error={error}
          onRetry={() => void refetch()}
          to={(site) => ({ to: overview(site) })}
          empty={
            <Empty icon={Globe} title={sitesText.emptyTitle} action={mayAdd ? <AddSite /> : null}>
              {mayAdd ? sitesText.emptyAdmin : sitesText.emptyViewer}
            </Empty>
          }
        />
      </Card>
    </Page>
  );
}

function Connections({ site }: { site: Site }) {
  const { active, paused, needsReconnection } = site.health.connections;
  const parts = [
    ["needs reconnection", needsReconnection, sitesText.needReconnection],
    ["active", active, sitesText.active],
    ["paused", paused, sitesText.paused],
  ] as const;
  const shown = parts.filter(([, n]) => n > 0);
  if (shown.length === 0) return <State of="not connected" word={commonText.none} />;
  return (
    <Group gap="sm" className="cc-states">
      {shown.map(([state, n, word]) => (
        <State key={state} of={state} word={word(n)} />
      ))}
    </Group>
  );
}

function Alerts({ site }: { site: Site }) {
  const n = site.health.openAlerts;
  if (n === 0) return <span className="cc-quiet">{commonText.none}</span>;
  return (
    <Link to={`/sites/${site.id}/settings/alerts`} style={{ textDecoration: "none" }}>
      <State of="failing" word={sitesText.alertCount(n)} />
    </Link>
  );
}
