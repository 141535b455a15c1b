// A sample of the bot visits, each with its verdict at the time and its signals by the current rules.

import { Anchor, Button, SegmentedControl, Stack, Text, Title } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { Bot } from "lucide-react";
import { useRef } from "react";
import { Card } from "../../common/Page.tsx";
import { SidePanel } from "../../common/SidePanel.tsx";
import { urlOf, type Answer } from "../../common/api/api.ts";
import { useApi, useRows, useSend } from "../../common/api/query.ts";
import { useMay, useSiteId } from "../../common/api/session.ts";
import { reasonText } from "../../common/format/reasons.ts";
import { TextLink } from "../../common/links.tsx";
import { CsvButton } from "../../common/lists/CsvButton.tsx";
import { Rows, type Column } from "../../common/lists/Rows.tsx";
import { useQueryParams } from "../../common/lists/queryParams.ts";
import { notify } from "../../common/notices.tsx";
import { undoOf } from "../../common/settings/undo.ts";
import { Empty, LoadState, RequestError } from "../../common/states.tsx";
import { Time } from "../../common/values.tsx";
import { Explanation, VerdictLine } from "./Explanation.tsx";
import { botsText } from "../../messages/bots.ts";
import { commonText } from "../../messages/common.ts";
import { countText } from "../../common/format/numbers.ts";
import { RichText } from "../../common/format/RichText.tsx";
import { GetTag } from "./GetTag.tsx";

type Visit = Answer<"GET /sites/:site/bots">["items"][number];

export function BotVisits() {
  const site = useSiteId();
  const { text, change } = useQueryParams();
  const suspicious = text("suspicious") === "true" ? "true" : "false";
  const isSuspicious = suspicious === "true";
  const { listed } = useRows("GET /sites/:site/bots", {
    params: { site },
    query: { limit: 10, suspicious },
  });
  const open = text("visit");
  const kind = isSuspicious ? { suspicious: "true" as const } : {};
  const columns: Column<Visit>[] = [
    {
      title: botsText.visits.columns.seen,
      cell: ({ id, seenAt }) => (
        <Anchor component={Link} to="." search={{ visit: id, ...kind } as never} size="sm">
          <Time at={seenAt} />
        </Anchor>
      ),
    },
    {
      title: botsText.visits.columns.reason,
      cell: ({ reason, verdict }) => reasonText(withEvidence(reason, [...verdict.reasons, ...(verdict.shadows ?? [])])),
    },
    {
      title: botsText.visits.columns.score,
      align: "right",
      cell: ({ verdict }) => countText(verdict.score),
    },
    {
      title: botsText.visits.columns.page,
      cell: ({ page }) => (
        <Text size="sm" truncate maw="clamp(96px, 20vw - 120px, 240px)" title={page}>
          {URL.parse(page)?.pathname ?? page}
        </Text>
      ),
      wide: true,
    },
    {
      title: botsText.visits.columns.userAgent,
      cell: ({ userAgent }) => <Truncated text={userAgent} />,
      wide: true,
    },
    {
      title: botsText.visits.columns.network,
      cell: ({ network }) => <span className="cc-mono">{network}</span>,
      wide: "lg",
    },
  ];
  return (
    <Card
      title={botsText.visits.title}
      about={
        isSuspicious ? (
          botsText.visits.aboutSuspicious
        ) : (
          <RichText
            text={botsText.visits.about}
            tags={{
              settings: (words) => (
                <TextLink to={`/sites/${site}/configuration/traffic`} underline="always">
                  {words}
                </TextLink>
              ),
            }}
          />
        )
      }
      padded={false}
      actions={
        <>
          <SegmentedControl
            size="xs"
            aria-label={botsText.visits.kinds.label}
            value={suspicious}
            onChange={(value) => change({ suspicious: value === "true" ? value : "" })}
            data={[
              { value: "false", label: botsText.visits.kinds.bots },
              { value: "true", label: botsText.visits.kinds.suspicious },
            ]}
          />
          <CsvButton
            href={urlOf("GET /sites/:site/bots.csv", { params: { site }, query: kind })}
            of={isSuspicious ? botsText.visits.csvSuspicious : botsText.visits.csv}
          />
        </>
      }
    >
      <Rows
        label={botsText.visits.title}
        columns={columns}
        {...listed}
        keyOf={({ id }) => id}
        to={({ id }) => ({ to: ".", search: { visit: id, ...kind } })}
        empty={
          <Empty
            icon={Bot}
            title={isSuspicious ? botsText.visits.noneSuspicious : botsText.visits.emptyTitle}
            action={<GetTag />}
          >
            {botsText.visits.empty}
          </Empty>
        }
      />
      {open && <VisitPanel visit={open} onClose={() => change({ visit: "" })} />}
    </Card>
  );
}

/** Adds the evidence to the reason under which a visit is counted. */
const withEvidence = (reason: string, reasons: readonly string[]) => reasons.find((one) => one.startsWith(reason)) ?? reason;

function Truncated({ text }: { text: string }) {
  return (
    <Text size="sm" lineClamp={2} maw="clamp(240px, 40vw - 240px, 560px)" title={text} style={{ overflowWrap: "anywhere" }}>
      {text || "–"}
    </Text>
  );
}

function VisitPanel({ visit, onClose }: { visit: string; onClose: () => void }) {
  const site = useSiteId();
  const { data, error, refetch } = useApi("GET /sites/:site/bots/:visit", { params: { site, visit } });
  return (
    <SidePanel title={botsText.visits.visit} onClose={onClose}>
      <LoadState of={{ data, error, refetch }} />
      {data && (
        <Stack gap="lg">
          <Stack gap={4}>
            <Text size="sm">
              <RichText
                text={botsText.visits.seenOn}
                tags={{
                  time: () => <Time at={data.visit.seenAt} />,
                  page: () => data.visit.page || botsText.visits.unknownPage,
                }}
              />
            </Text>
            <Text size="sm" c="dimmed" style={{ overflowWrap: "anywhere" }}>
              {data.visit.userAgent}
            </Text>
            <Text size="sm" c="dimmed">
              {botsText.visits.network(data.visit.network)}
            </Text>
          </Stack>
          <Stack gap="xs">
            <Title order={3}>{botsText.visits.atTheTime}</Title>
            <VerdictLine verdict={data.visit.verdict} />
            <Reasons of={data.visit.verdict.reasons} />
            {data.visit.verdict.shadows && (
              <>
                <Text size="sm">{botsText.visits.inShadow}</Text>
                <Reasons of={data.visit.verdict.shadows} />
              </>
            )}
          </Stack>
          <AllowNetwork range={data.visit.range} />
          <Stack gap="xs">
            <Title order={3}>{botsText.visits.current}</Title>
            <Explanation of={data.now} label={botsText.visits.currentSignals} />
          </Stack>
        </Stack>
      )}
    </SidePanel>
  );
}

function Reasons({ of }: { of: readonly string[] }) {
  return (
    <ul style={{ margin: 0, paddingLeft: 20 }}>
      {of.map((reason) => (
        <li key={reason}>{reasonText(reason)}</li>
      ))}
    </ul>
  );
}

/** Takes the verdicts on a network back: an allow rule overrides all evidence. */
function AllowNetwork({ range }: { range: string }) {
  const site = useSiteId();
  const settings = useApi("GET /sites/:site/settings", { params: { site } });
  const saved = settings.data?.items.find(({ name }) => name === setting)?.value ?? "";
  const networks = saved.split(",").filter(Boolean);
  const mayChange = useMay("admin", site);
  const before = useRef("");
  const allow = useSend("PATCH /sites/:site/settings", {
    onDone: () => notify(commonText.saved, undoOf(site, { [setting]: before.current })),
  });
  const onAllow = () => {
    before.current = saved;
    allow.mutate({ params: { site }, body: { settings: { [setting]: [...networks, range].join(",") } } });
  };
  if (!settings.data || !mayChange) return null;
  if (networks.includes(range) && !allow.isPending) return <Text size="sm">{botsText.visits.isAllowed(range)}</Text>;
  return (
    <Stack gap={4} align="flex-start">
      <Button variant="default" size="compact-sm" loading={allow.isPending} onClick={onAllow}>
        {botsText.visits.isPerson}
      </Button>
      <Text size="xs" c="dimmed">
        {botsText.visits.isPersonHelp(range)}
      </Text>
      <RequestError error={allow.error} />
    </Stack>
  );
}

const setting = "allow_networks";
