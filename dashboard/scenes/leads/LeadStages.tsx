// The ladder of lead stages, by the source of the leads, and the leads that went back.

import { Group, NativeSelect, Stack, Text, TextInput } from "@mantine/core";
import { Milestone } from "lucide-react";
import { useState } from "react";
import { Card, Page } from "../../common/Page.tsx";
import type { Answer } from "../../common/api/api.ts";
import { useApi } from "../../common/api/query.ts";
import { useSiteId } from "../../common/api/session.ts";
import { countText, percentText } from "../../common/format/numbers.ts";
import { ageText } from "../../common/format/times.ts";
import { DocsLink, TextLink } from "../../common/links.tsx";
import { useQueryParams } from "../../common/lists/queryParams.ts";
import { Rows, type Column } from "../../common/lists/Rows.tsx";
import { Empty } from "../../common/states.tsx";
import { Time } from "../../common/values.tsx";
import { reconciliationText } from "../../messages/reconciliation.ts";

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
    <Page title={reconciliationText.leads.title} about={reconciliationText.leads.about}>
      <Card
        padded={false}
        title={reconciliationText.leads.bySource}
        about={<DocsLink page="how-to/lead-stages">{reconciliationText.leads.learn}</DocsLink>}
        actions={
          <Group gap="sm" align="flex-end">
            <TextInput
              label={reconciliationText.leads.stages}
              placeholder={data?.stages.join(", ")}
              miw={260}
              value={draft}
              onChange={({ currentTarget }) => setDraft(currentTarget.value)}
              onBlur={() => change({ stages: draft })}
              onKeyDown={({ key }) => key === "Enter" && change({ stages: draft })}
            />
            <NativeSelect
              label={reconciliationText.leads.period}
              value={days}
              onChange={({ currentTarget }) => change({ days: currentTarget.value })}
              data={periods.map((value) => ({ value, label: reconciliationText.leads.days(Number(value)) }))}
            />
          </Group>
        }
      >
        <Rows
          label={reconciliationText.leads.title}
          columns={columnsOf(data?.stages ?? [])}
          rows={data?.sources}
          keyOf={({ source }) => source}
          error={error}
          onRetry={() => void refetch()}
          empty={
            <Empty icon={Milestone} title={reconciliationText.leads.none}>
              {reconciliationText.leads.noneMore}
            </Empty>
          }
        />
        {data && !data.isComplete && (
          <Text size="sm" c="dimmed" p="md">
            {reconciliationText.leads.incomplete}
          </Text>
        )}
      </Card>
      {data && data.back.length > 0 && (
        <Card padded={false} title={reconciliationText.leads.backTitle} about={reconciliationText.leads.backAbout}>
          <Rows
            label={reconciliationText.leads.backTitle}
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
    title: reconciliationText.leads.source,
    cell: ({ source }) => (source === "(none)" ? <span className="cc-quiet">{reconciliationText.leads.noSource}</span> : source),
  },
  ...stages.map((stage, at): Column<Source> => ({
    title: stage,
    align: "right",
    cell: ({ steps }) => <StepCell step={steps[at]} first={at === 0 ? null : (steps[0]?.leads ?? 0)} />,
  })),
  {
    title: reconciliationText.leads.wentBack,
    align: "right",
    wide: true,
    cell: ({ wentBack }) => (wentBack === 0 ? <span className="cc-quiet">0</span> : countText(wentBack)),
  },
];

/** `first` are the leads of the first stage; null for that stage itself. */
function StepCell({ step, first }: { step: Source["steps"][number] | undefined; first: number | null }) {
  if (!step) return null;
  if (step.leads === 0) return <span className="cc-quiet">0</span>;
  const { leads, medianMs } = step;
  const about = [
    first === null || first < leads ? null : percentText(leads, first),
    medianMs === null ? null : reconciliationText.leads.after(ageText(medianMs)),
  ].filter((one) => one !== null);
  return (
    <Stack gap={0} align="flex-end">
      <span className="cc-number">{countText(leads)}</span>
      {about.map((line) => (
        <Text key={line} size="xs" c="dimmed" component="span">
          {line}
        </Text>
      ))}
    </Stack>
  );
}

const backColumns = (site: string): Column<StepBack>[] => [
  {
    title: reconciliationText.leads.backTime,
    cell: ({ time, eventId }) => (
      <TextLink to={`/sites/${site}/events/${eventId}`}>
        <Time at={time} />
      </TextLink>
    ),
  },
  { title: reconciliationText.leads.backFrom, cell: ({ from }) => from },
  { title: reconciliationText.leads.backTo, cell: ({ stage }) => stage },
];
