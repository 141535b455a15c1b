// All sites with their health.

import { Box, Group, Stack, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { Globe } from "lucide-react";
import { Card, Page } from "../../common/Page.tsx";
import { useMay, useSites, type Site } from "../../common/api/session.ts";
import { countText } from "../../common/format/format.ts";
import { TextLink } from "../../common/links.tsx";
import { Rows, type Column } from "../../common/lists/Rows.tsx";
import { Empty } from "../../common/states.tsx";
import { State, Time } from "../../common/values.tsx";
import { AddSite } from "./AddSite.tsx";

const overview = (site: Site) => `/sites/${site.id}/overview`;

function hostsText({ hosts, name }: Site): string {
  const [first = "", ...more] = hosts;
  if (more.length === 0) return first === name ? "" : first;
  return `${first} and ${more.length} more`;
}

const columns: Column<Site>[] = [
  {
    title: "Site",
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
    title: "Conversions, 24 h",
    align: "right",
    cell: ({ health }) => countText(health.conversions24h),
  },
  {
    title: "Bots removed, 24 h",
    align: "right",
    wide: true,
    cell: ({ health }) => countText(health.removed24h),
  },
  { title: "Connections", wide: true, cell: (site) => <Connections site={site} /> },
  {
    title: "Waiting",
    align: "right",
    wide: true,
    cell: (site) =>
      site.health.waiting === 0 ? (
        <span className="cc-quiet">0</span>
      ) : (
        <TextLink to={`/sites/${site.id}/integrations/log`} search={{ state: "queued" }}>
          {countText(site.health.waiting)}
        </TextLink>
      ),
  },
  { title: "Last event", wide: true, cell: ({ health }) => <Time at={health.lastEventAt} none="none yet" /> },
  { title: "Alerts", wide: true, cell: (site) => <Alerts site={site} /> },
];

export default function Sites() {
  const { data, error, refetch } = useSites();
  const mayAdd = useMay("admin", null);
  return (
    <Page
      title="Sites"
      about="Each site has its own keys, connections and data. 24 h means the current hour and the 23 before it."
      actions={mayAdd ? <AddSite /> : null}
    >
      <Card padded={false}>
        <Rows
          label="Sites"
          columns={columns}
          rows={data?.items}
          keyOf={({ id }) => id}
          error={error}
          onRetry={() => void refetch()}
          to={(site) => ({ to: overview(site) })}
          empty={
            <Empty icon={Globe} title="No site yet" action={mayAdd ? <AddSite /> : null}>
              {mayAdd
                ? "Add the domain where people convert to see its keys, platforms and figures here."
                : "You have no access to a site yet. Ask an owner to invite you."}
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
    [
      "needs reconnection",
      needsReconnection,
      needsReconnection === 1 ? "needs reconnection" : "need reconnection",
    ],
    ["active", active, "active"],
    ["paused", paused, "paused"],
  ] as const;
  const shown = parts.filter(([, n]) => n > 0);
  if (shown.length === 0) return <State of="not connected" word="none" />;
  return (
    <Group gap="sm" className="cc-states">
      {shown.map(([state, n, word]) => (
        <State key={state} of={state} word={`${n} ${word}`} />
      ))}
    </Group>
  );
}

function Alerts({ site }: { site: Site }) {
  const n = site.health.openAlerts;
  if (n === 0) return <span className="cc-quiet">none</span>;
  return (
    <Link to={`/sites/${site.id}/settings/alerts`} style={{ textDecoration: "none" }}>
      <State of="failing" word={n === 1 ? "1 alert" : `${n} alerts`} />
    </Link>
  );
}
