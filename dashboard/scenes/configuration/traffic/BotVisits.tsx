// A sample of the bot visits, each with its verdict at the time and its signals by the current rules.

import { Anchor, Stack, Text, Title } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { Bot } from "lucide-react";
import { Card } from "../../../common/Page.tsx";
import { SidePanel } from "../../../common/SidePanel.tsx";
import { urlOf, type Answer } from "../../../common/api/api.ts";
import { useApi, useRows } from "../../../common/api/query.ts";
import { useSiteId } from "../../../common/api/session.ts";
import { reasonText } from "../../../common/format/reasons.ts";
import { CsvButton } from "../../../common/lists/CsvButton.tsx";
import { Rows, type Column } from "../../../common/lists/Rows.tsx";
import { useQueryParams } from "../../../common/lists/queryParams.ts";
import { Empty, LoadState } from "../../../common/states.tsx";
import { Time } from "../../../common/values.tsx";
import { Explanation, VerdictLine } from "./Explanation.tsx";
import { configurationText } from "../../../messages/configuration.ts";
import { countText } from "../../../common/format/numbers.ts";
import { RichText } from "../../../common/format/RichText.tsx";

type Visit = Answer<"GET /sites/:site/bots">["items"][number];

export function BotVisits() {
  const site = useSiteId();
  const { text, change } = useQueryParams();
  const { rows, error, more, isLoadingMore, retry } = useRows("GET /sites/:site/bots", {
    params: { site },
    query: { limit: 10 },
  });
  const open = text("visit");
  const columns: Column<Visit>[] = [
    {
      title: configurationText.bots.columns.seen,
      cell: ({ id, seenAt }) => (
        <Anchor component={Link} to="." search={{ visit: id } as never} size="sm">
          <Time at={seenAt} />
        </Anchor>
      ),
    },
    {
      title: configurationText.bots.columns.reason,
      cell: ({ reason, verdict }) => reasonText(withEvidence(reason, verdict.reasons)),
    },
    {
      title: configurationText.bots.columns.score,
      align: "right",
      cell: ({ verdict }) => countText(verdict.score),
    },
    {
      title: configurationText.bots.columns.page,
      cell: ({ page }) => <Truncated text={URL.parse(page)?.pathname ?? page} whole={page} />,
      wide: true,
    },
    {
      title: configurationText.bots.columns.userAgent,
      cell: ({ userAgent }) => <Truncated text={userAgent} />,
      wide: true,
    },
    {
      title: configurationText.bots.columns.network,
      cell: ({ network }) => <span className="cc-mono">{network}</span>,
      wide: true,
    },
  ];
  return (
    <Card
      title={configurationText.bots.title}
      about={configurationText.bots.about}
      padded={false}
      actions={<CsvButton href={urlOf("GET /sites/:site/bots.csv", { params: { site } })} of={configurationText.bots.csv} />}
    >
      <Rows
        label={configurationText.bots.title}
        columns={columns}
        rows={rows}
        keyOf={({ id }) => id}
        to={({ id }) => ({ to: ".", search: { visit: id } })}
        error={error}
        onRetry={retry}
        more={more}
        isLoadingMore={isLoadingMore}
        empty={
          <Empty icon={Bot} title={configurationText.bots.emptyTitle}>
            {configurationText.bots.empty}
          </Empty>
        }
      />
      {open && <VisitPanel visit={open} onClose={() => change({ visit: "" })} />}
    </Card>
  );
}

/** Adds the evidence to the reason under which a visit is counted. */
const withEvidence = (reason: string, reasons: readonly string[]) => reasons.find((one) => one.startsWith(reason)) ?? reason;

function Truncated({ text, whole = text }: { text: string; whole?: string }) {
  return (
    <Text size="sm" truncate maw={180} title={whole}>
      {text || "–"}
    </Text>
  );
}

function VisitPanel({ visit, onClose }: { visit: string; onClose: () => void }) {
  const site = useSiteId();
  const { data, error, refetch } = useApi("GET /sites/:site/bots/:visit", { params: { site, visit } });
  return (
    <SidePanel title={configurationText.bots.visit} onClose={onClose}>
      <LoadState of={{ data, error, refetch }} />
      {data && (
        <Stack gap="lg">
          <Stack gap={4}>
            <Text size="sm">
              <RichText
                text={configurationText.bots.seenOn}
                tags={{
                  time: () => <Time at={data.visit.seenAt} />,
                  page: () => data.visit.page || configurationText.bots.unknownPage,
                }}
              />
            </Text>
            <Text size="sm" c="dimmed" style={{ overflowWrap: "anywhere" }}>
              {data.visit.userAgent}
            </Text>
            <Text size="sm" c="dimmed">
              {configurationText.bots.network(data.visit.network)}
            </Text>
          </Stack>
          <Stack gap="xs">
            <Title order={3}>{configurationText.bots.atTheTime}</Title>
            <VerdictLine verdict={data.visit.verdict} />
            <ul style={{ margin: 0, paddingLeft: 20 }}>
              {data.visit.verdict.reasons.map((reason) => (
                <li key={reason}>{reasonText(reason)}</li>
              ))}
            </ul>
          </Stack>
          <Stack gap="xs">
            <Title order={3}>{configurationText.bots.current}</Title>
            <Explanation of={data.now} label={configurationText.bots.currentSignals} />
          </Stack>
        </Stack>
      )}
    </SidePanel>
  );
}
