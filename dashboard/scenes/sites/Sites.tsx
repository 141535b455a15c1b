// All sites with their health.

import { Box, Button, Group, NativeSelect, SimpleGrid, Stack, Text, TextInput } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { Globe, Search } from "lucide-react";
import { Card, Page } from "../../common/Page.tsx";
import { Tile } from "../../common/Tile.tsx";
import { useMay, useSites, type Site } from "../../common/api/session.ts";
import { countText, shortCount } from "../../common/format/numbers.ts";
import { TextLink } from "../../common/links.tsx";
import { Rows, type Column } from "../../common/lists/Rows.tsx";
import { searchOfMode, useQueryParams } from "../../common/lists/queryParams.ts";
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
        {site.health.figures?.openAlerts !== 0 && (
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
    cell: ({ health: { figures } }) => figureText(figures?.conversions24h),
  },
  {
    title: sitesText.bots,
    align: "right",
    wide: true,
    cell: ({ health: { figures } }) => figureText(figures?.removed24h),
  },
  { title: sitesText.connections, wide: true, cell: (site) => <Connections site={site} /> },
  {
    title: sitesText.waiting,
    align: "right",
    wide: true,
    cell: ({ id, health: { figures } }) =>
      figures && figures.waiting > 0 ? (
        <TextLink to={`/sites/${id}/integrations/log`} search={{ state: "waiting", ...searchOfMode("all") }}>
          {countText(figures.waiting)}
        </TextLink>
      ) : (
        <span className="cc-quiet">{figureText(figures?.waiting)}</span>
      ),
  },
  {
    title: sitesText.lastEvent,
    wide: true,
    cell: ({ health: { figures } }) => <Time at={figures?.lastEventAt ?? null} none={figures ? sitesText.noEvent : noFigure} />,
  },
  { title: sitesText.alerts, wide: true, cell: (site) => <Alerts site={site} /> },
];

/** What a list of many sites is sorted by. */
const orders: Record<keyof typeof sitesText.order.by, (one: Site, other: Site) => number> = {
  attention: (one, other) =>
    troubles(other) - troubles(one) || figureOf(other, "conversions24h") - figureOf(one, "conversions24h"),
  name: (one, other) => one.name.localeCompare(other.name),
  conversions: (one, other) => figureOf(other, "conversions24h") - figureOf(one, "conversions24h"),
  bots: (one, other) => figureOf(other, "removed24h") - figureOf(one, "removed24h"),
  waiting: (one, other) => figureOf(other, "waiting") - figureOf(one, "waiting"),
  lastEvent: (one, other) => figureOf(other, "lastEventAt") - figureOf(one, "lastEventAt"),
};
type Order = keyof typeof orders;
const isOrder = (text: string): text is Order => Object.hasOwn(orders, text);

type Figures = NonNullable<Site["health"]["figures"]>;
const figureOf = ({ health }: Site, name: keyof Figures): number => health.figures?.[name] ?? 0;

/** The figures of a site are unknown while its machine of the database does not answer. */
const noFigure = "–";
const figureText = (value: number | undefined) => (value === undefined ? noFigure : countText(value));

/** A site whose rows are out of reach needs attention. */
const troubles = ({ health }: Site) => (health.figures?.openAlerts ?? 1) + health.connections.needsReconnection;

/** With fewer sites than this, all of them are seen at once. */
const searchedFrom = 8;

export default function Sites() {
  const { data, error, refetch } = useSites();
  const mayAdd = useMay("admin", null);
  const { text, change } = useQueryParams();
  const order = isOrder(text("sort")) ? (text("sort") as Order) : "attention";
  const words = text("search").toLowerCase().split(/\s+/).filter(Boolean);
  const all = data?.items;
  const rows = all
    ?.filter(({ name, hosts }) => words.every((word) => [name, ...hosts].some((one) => one.toLowerCase().includes(word))))
    .toSorted(orders[order]);
  return (
    <Page title={sitesText.title} about={sitesText.about} actions={mayAdd ? <AddSite /> : null}>
      {all && all.length > 1 && <Totals sites={all} />}
      <Card padded={false}>
        {all && all.length >= searchedFrom && (
          <Group p="md" gap="sm">
            <TextInput
              type="search"
              aria-label={sitesText.search}
              placeholder={sitesText.search}
              leftSection={<Search size={15} aria-hidden />}
              flex="1 1 220px"
              maw={400}
              value={text("search")}
              onChange={({ currentTarget }) => change({ search: currentTarget.value })}
            />
            <NativeSelect
              aria-label={sitesText.order.label}
              value={order}
              onChange={({ currentTarget }) => change({ sort: currentTarget.value })}
              data={Object.entries(sitesText.order.by).map(([value, label]) => ({ value, label }))}
            />
          </Group>
        )}
        <Rows
          label={sitesText.title}
          columns={columns()}
          rows={rows}
          keyOf={({ id }) => id}
          error={error}
          onRetry={() => void refetch()}
          to={(site) => ({ to: overview(site) })}
          empty={
            words.length > 0 ? (
              <Empty
                icon={Globe}
                title={sitesText.nothingFound}
                action={
                  <Button variant="default" onClick={() => change({ search: "" })}>
                    {sitesText.showAll}
                  </Button>
                }
              />
            ) : (
              <Empty icon={Globe} title={sitesText.emptyTitle} action={mayAdd ? <AddSite /> : null}>
                {mayAdd ? sitesText.emptyAdmin : sitesText.emptyViewer}
              </Empty>
            )
          }
        />
      </Card>
    </Page>
  );
}

/** All sites together: who looks after many of them begins here. */
function Totals({ sites }: { sites: readonly Site[] }) {
  const sum = (of: (site: Site) => number) => sites.reduce((all, site) => all + of(site), 0);
  const figures = [
    [sitesText.title, sites.length],
    [sitesText.conversions, sum((site) => figureOf(site, "conversions24h"))],
    [sitesText.bots, sum((site) => figureOf(site, "removed24h"))],
    [sitesText.waiting, sum((site) => figureOf(site, "waiting"))],
    [sitesText.needAttention, sites.filter((site) => troubles(site) > 0).length],
  ] as const;
  return (
    <SimpleGrid cols={{ base: 2, sm: 3, lg: 5 }} spacing="md">
      {figures.map(([label, figure]) => (
        <Tile key={label} label={label} value={shortCount(figure)} exact={countText(figure)} />
      ))}
    </SimpleGrid>
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
    <Group gap="2px 12px">
      {shown.map(([state, n, word]) => (
        <State key={state} of={state} word={word(n)} />
      ))}
    </Group>
  );
}

function Alerts({ site }: { site: Site }) {
  const n = site.health.figures?.openAlerts;
  if (n === undefined)
    return (
      <span title={sitesText.unreadableTitle}>
        <State of="failing" word={sitesText.unreadable} />
      </span>
    );
  if (n === 0) return <span className="cc-quiet">{commonText.none}</span>;
  return (
    <Link to={`/sites/${site.id}/settings/alerts`} style={{ textDecoration: "none" }}>
      <State of="failing" word={sitesText.alertCount(n)} />
    </Link>
  );
}
