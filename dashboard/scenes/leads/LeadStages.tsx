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
import { eventsText } from "../../messages/events.ts";

type Ladder = Answer<"GET /sites/:site/lead-stages">;
type Source = Ladder["sources"][number];
type StepBack = Ladder["back"][number];

const periods = ["7", "30", "90"];

export default function LeadStages() {
  const site = useSiteId();
  const { text, change } = useQueryParams();
  const texts = eventsText.leads;
  const days = periods.find((one) => one === text("days")) ?? "30";
  const stages = text("stages");
  const query = { days, ...(stages && { stages }) };
  const { data, error, refetch } = useApi("GET /sites/:site/lead-stages", { params: { site }, query });
  const [draft, setDraft] = useState(stages);
  return (
    <Page title={texts.title} about={texts.about}>
      <Card
        padded={false}
        title={texts.title}
        about={<DocsLink page="how-to/lead-stages">{texts.learn}</DocsLink>}
        actions={
          <Group gap="sm" align="flex-end">
            <TextInput
              label={texts.stages}
              placeholder={data?.stages.join(", ")}
              value={draft}
              onChange={({ currentTarget }) => setDraft(currentTarget.value)}
              onBlur={() => change({ stages: draft })}
              onKeyDown={({ key }) => key === "Enter" && change({ stages: draft })}
            />
            <NativeSelect
              label={texts.period}
              value={days}
              onChange={({ currentTarget }) => change({ days: currentTarget.value })}
              data={periods.map((value) => ({ value, label: texts.days(Number(value)) }))}
            />
          </Group>
        }
      >
        <Rows
          label={texts.title}
          columns={columnsOf(data?.stages ?? [])}
          rows={data?.sources}
          keyOf={({ source }) => source}
          error={error}
          onRetry={() => void refetch()}
          empty={
            <Empty icon={Milestone} title={texts.none}>
              {texts.noneMore}
            </Empty>
          }
        />
        {data && !data.isComplete && (
          <Text size="sm" c="dimmed" p="md">
            {texts.incomplete}
          </Text>
        )}
      </Card>
      {data && data.back.length > 0 && (
        <Card padded={false} title={texts.backTitle} about={texts.backAbout}>
          <Rows
            label={texts.backTitle}
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
    title: eventsText.leads.source,
    cell: ({ source }) => (source === "(none)" ? <span className="cc-quiet">{eventsText.leads.noSource}</span> : source),
  },
  ...stages.map((stage, at): Column<Source> => ({
    title: stage,
    align: "right",
    cell: ({ steps }) => <StepCell step={steps[at]} />,
  })),
  { title: eventsText.leads.wentBack, align: "right", wide: true, cell: ({ wentBack }) => countText(wentBack) },
];

function StepCell({ step }: { step: Source["steps"][number] | undefined }) {
  if (!step) return null;
  return (
    <Stack gap={0} align="flex-end">
      <span className="cc-number">{countText(step.leads)}</span>
      {step.medianMs !== null && (
        <Text size="xs" c="dimmed" component="span">
          {eventsText.leads.after(ageText(step.medianMs))}
        </Text>
      )}
    </Stack>
  );
}

const backColumns = (site: string): Column<StepBack>[] => [
  { title: eventsText.leads.backTime, cell: ({ time }) => <Time at={time} /> },
  { title: eventsText.leads.backFrom, cell: ({ from }) => from },
  { title: eventsText.leads.backTo, cell: ({ stage }) => stage },
  {
    title: eventsText.leads.backEvent,
    wide: true,
    cell: ({ eventId }) => <TextLink to={`/sites/${site}/events/${eventId}`}>{eventId}</TextLink>,
  },
];
