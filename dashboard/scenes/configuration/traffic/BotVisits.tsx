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
import { Empty, LoadError, Loading } from "../../../common/states.tsx";
import { Time } from "../../../common/values.tsx";
import { Explanation, VerdictLine } from "./Explanation.tsx";

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
      title: "Seen",
      cell: ({ id, seenAt }) => (
        <Anchor component={Link} to="." search={{ visit: id } as never} size="sm">
          <Time at={seenAt} />
        </Anchor>
      ),
    },
    { title: "Reason", cell: ({ reason, verdict }) => reasonText(withEvidence(reason, verdict.reasons)) },
    { title: "Score", align: "right", cell: ({ verdict }) => verdict.score },
    {
      title: "Page",
      cell: ({ page }) => <Truncated text={URL.parse(page)?.pathname ?? page} whole={page} />,
      wide: true,
    },
    { title: "User agent", cell: ({ userAgent }) => <Truncated text={userAgent} />, wide: true },
    { title: "Network", cell: ({ network }) => <span className="cc-mono">{network}</span>, wide: true },
  ];
  return (
    <Card
      title="Bot visits"
      about="A sample: at most five of each kind per hour, kept for 14 days. If one is a person, allow its network or user agent above."
      padded={false}
      actions={<CsvButton href={urlOf("GET /sites/:site/bots.csv", { params: { site } })} of="bot visits" />}
    >
      <Rows
        label="Bot visits"
        columns={columns}
        rows={rows}
        keyOf={({ id }) => id}
        to={({ id }) => ({ to: ".", search: { visit: id } })}
        error={error}
        onRetry={retry}
        more={more}
        isLoadingMore={isLoadingMore}
        empty={
          <Empty icon={Bot} title="No bot visits in the last 14 days">
            Once the tag is on your pages, bot visits appear here with their reasons.
          </Empty>
        }
      />
      {open && <VisitPanel visit={open} onClose={() => change({ visit: "" })} />}
    </Card>
  );
}

/** Adds the evidence to the reason under which a visit is counted. */
const withEvidence = (reason: string, reasons: readonly string[]) =>
  reasons.find((one) => one.startsWith(reason)) ?? reason;

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
    <SidePanel title="Bot visit" onClose={onClose}>
      {error && <LoadError error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Loading />}
      {data && (
        <Stack gap="lg">
          <Stack gap={4}>
            <Text size="sm">
              <Time at={data.visit.seenAt} /> on {data.visit.page || "an unknown page"}
            </Text>
            <Text size="sm" c="dimmed" style={{ overflowWrap: "anywhere" }}>
              {data.visit.userAgent}
            </Text>
            <Text size="sm" c="dimmed">
              Network {data.visit.network}. Only the network was kept: rules about a single address cannot be
              repeated.
            </Text>
          </Stack>
          <Stack gap="xs">
            <Title order={3}>At the time</Title>
            <VerdictLine verdict={data.visit.verdict} />
            <ul style={{ margin: 0, paddingLeft: 20 }}>
              {data.visit.verdict.reasons.map((reason) => (
                <li key={reason}>{reasonText(reason)}</li>
              ))}
            </ul>
          </Stack>
          <Stack gap="xs">
            <Title order={3}>By current rules</Title>
            <Explanation of={data.now} label="Signals by current rules" />
          </Stack>
        </Stack>
      )}
    </SidePanel>
  );
}
