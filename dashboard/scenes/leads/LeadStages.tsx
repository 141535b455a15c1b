// The ladder of lead stages, by the source of the leads, and the leads that went back.

import { Group, NativeSelect, Stack, Text, TextInput } from "@mantine/core";
import { Milestone } from "lucide-react";
import { useState } from "react";
import { Card, Page } from "../../common/Page.tsx";
import type { Answer } from "../../common/api/api.ts";
import { useApi } from "../../common/api/query.ts";
import { useSiteId } from "../../common/api/session.ts";
import { countText } from "../../common/format/numbers.ts";
import { ageText } from "../../common/format/times.ts";
import { DocsLink, TextLink } from "../../common/links.tsx";
import { useQueryParams } from "../../common/lists/queryParams.ts";
import { Rows, type Column } from "../../common/lists/Rows.tsx";
import { Empty } from "../../common/states.tsx";
import { Time } from "../../common/values.tsx";
import { leadsText } from "../../messages/leads.ts";

type Ladder = Answer<"GET /sites/:site/lead-stages">;
type Source = Ladder["sources"][number];
type StepBack = Ladder["back"][number];

const periods = ["7", "30", "90"];

export default function LeadStages() {
  const site = useSiteId();
  const { text, change } = useQueryParams();
  const days = periods.find((one) => one === text("days")) ?? "30";
  const stages = text("stages");
  const query = { days, ...(stages && { stages }) };
  const { data, error, refetch } = useApi("GET /sites/:site/lead-stages", { params: { site }, query });
  const [draft, setDraft] = useState(stages);
  return (
    <Page title={leadsText.title} about={leadsText.about}>
      <Card
        padded={false}
        title={leadsText.title}
        about={<DocsLink page="how-to/lead-stages">{leadsText.learn}</DocsLink>}
        actions={
          <Group gap="sm" align="flex-end">
            <TextInput
              label={leadsText.stages}
              placeholder={data?.stages.join(", ")}
              value={draft}
              onChange={({ currentTarget }) => setDraft(currentTarget.value)}
              onBlur={() => change({ stages: draft })}
              onKeyDown={({ key }) => key === "Enter" && change({ stages: draft })}
            />
            <NativeSelect
              label={leadsText.period}
              value={days}
              onChange={({ currentTarget }) => change({ days: currentTarget.value })}
              data={periods.map((value) => ({ value, label: leadsText.days(Number(value)) }))}
            />
          </Group>
        }
      >
        <Rows
          label={leadsText.title}
          columns={columnsOf(data?.stages ?? [])}
          rows={data?.sources}
          keyOf={({ source }) => source}
          error={error}
          onRetry={() => void refetch()}
          empty={
            <Empty icon={Milestone} title={leadsText.none}>
              {leadsText.noneMore}
            </Empty>
          }
        />
        {data && !data.isComplete && (
          <Text size="sm" c="dimmed" p="md">
            {leadsText.incomplete}
          </Text>
        )}
      </Card>
      {data && data.back.length > 0 && (
        <Card padded={false} title={leadsText.backTitle} about={leadsText.backAbout}>
          <Rows
            label={leadsText.backTitle}
            columns={backColumns(site)}
            rows={data.back}
            keyOf={({ eventId }) => eventId}
            empty={null}
          />
        </Card>
      )}
    </Page>
  );
}

const columnsOf = (stages: readonly string[]): Column<Source>[] => [
  {
    title: leadsText.source,
    cell: ({ source }) => (source === "(none)" ? <span className="cc-quiet">{leadsText.noSource}</span> : source),
  },
  ...stages.map((stage, at): Column<Source> => ({
    title: stage,
    align: "right",
    cell: ({ steps }) => <StepCell step={steps[at]} />,
  })),
  { title: leadsText.wentBack, align: "right", wide: true, cell: ({ wentBack }) => countText(wentBack) },
];

function StepCell({ step }: { step: Source["steps"][number] | undefined }) {
  if (!step) return null;
  return (
    <Stack gap={0} align="flex-end">
      <span className="cc-number">{countText(step.leads)}</span>
      {step.medianMs !== null && (
        <Text size="xs" c="dimmed" component="span">
          {leadsText.after(ageText(step.medianMs))}
        </Text>
      )}
    </Stack>
  );
}

const backColumns = (site: string): Column<StepBack>[] => [
  { title: leadsText.backTime, cell: ({ time }) => <Time at={time} /> },
  { title: leadsText.backFrom, cell: ({ from }) => from },
  { title: leadsText.backTo, cell: ({ stage }) => stage },
  {
    title: leadsText.backEvent,
    wide: true,
    cell: ({ eventId }) => <TextLink to={`/sites/${site}/events/${eventId}`}>{eventId}</TextLink>,
  },
];
