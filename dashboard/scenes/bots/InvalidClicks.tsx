// The clicks of bots on advertisements, by day and campaign.

import { NativeSelect, NumberInput, SimpleGrid, Stack, Text } from "@mantine/core";
import { MousePointerClick } from "lucide-react";
import { useState } from "react";
import { Card } from "../../common/Page.tsx";
import { Tile } from "../../common/Tile.tsx";
import { urlOf, type Answer } from "../../common/api/api.ts";
import { useApi } from "../../common/api/query.ts";
import { useSiteId } from "../../common/api/session.ts";
import { TimeChart } from "../../common/charts/TimeChart.tsx";
import { RichText } from "../../common/format/RichText.tsx";
import { countText, percentText } from "../../common/format/numbers.ts";
import { DocsLink } from "../../common/links.tsx";
import { CsvButton } from "../../common/lists/CsvButton.tsx";
import { Rows, type Column } from "../../common/lists/Rows.tsx";
import { useQueryParams } from "../../common/lists/queryParams.ts";
import { Empty, LoadState } from "../../common/states.tsx";
import { botsText } from "../../messages/bots.ts";
import { BotsPage } from "../frame/SectionPage.tsx";
import { GetTag } from "./GetTag.tsx";

type Clicks = Answer<"GET /sites/:site/invalid-clicks">;
type Campaign = Clicks["campaigns"][number];

const periods = ["7", "30", "60"];

export default function InvalidClicks() {
  const site = useSiteId();
  const { text, change } = useQueryParams();
  const days = periods.find((one) => one === text("days")) ?? "30";
  const cost = Number(text("cost")) > 0 ? text("cost") : "";
  const { data, error, refetch } = useApi(
    "GET /sites/:site/invalid-clicks",
    { params: { site }, query: { days, ...(cost && { costPerClick: cost }) } },
    { keepPrevious: true },
  );
  const texts = botsText.clicks;
  return (
    <BotsPage tab="clicks">
      <Card
        title={texts.title}
        about={
          <RichText
            text={texts.about}
            tags={{ docs: (words) => <DocsLink page="how-to/report-invalid-clicks">{words}</DocsLink> }}
          />
        }
        actions={
          <CsvButton href={urlOf("GET /sites/:site/invalid-clicks.csv", { params: { site }, query: { days } })} of={texts.csv} />
        }
      >
        <Stack gap="lg">
          <SimpleGrid cols={{ base: 1, xs: 2 }} maw={480}>
            <NativeSelect
              label={texts.period}
              value={days}
              onChange={({ currentTarget }) => change({ days: currentTarget.value })}
              data={periods.map((value) => ({ value, label: texts.days(Number(value)) }))}
            />
            <CostField value={cost} onChange={(value) => change({ cost: value })} />
          </SimpleGrid>
          <LoadState of={{ data, error, refetch }} />
          {data && data.clicks === 0 && (
            <Empty icon={MousePointerClick} title={texts.none} action={<GetTag />}>
              {texts.noneMore}
            </Empty>
          )}
          {data && data.clicks > 0 && <Figures of={data} />}
        </Stack>
      </Card>
      {data && data.campaigns.length > 0 && (
        <Card title={texts.byCampaign} padded={false}>
          <Rows
            label={texts.byCampaign}
            columns={columnsOf(data.spend !== null)}
            rows={data.campaigns}
            keyOf={({ clickId, campaign }) => `${clickId} ${campaign}`}
            empty={null}
          />
        </Card>
      )}
    </BotsPage>
  );
}

function CostField({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  const [draft, setDraft] = useState<string | number>(value);
  const save = () => onChange(Number(draft) > 0 ? String(draft) : "");
  return (
    <NumberInput
      label={botsText.clicks.cost}
      description={botsText.clicks.costHelp}
      inputWrapperOrder={["label", "input", "description"]}
      placeholder="0.80"
      min={0}
      max={1_000_000}
      decimalScale={4}
      hideControls
      value={draft}
      onChange={setDraft}
      onBlur={save}
      onKeyDown={({ key }) => key === "Enter" && save()}
    />
  );
}

function Figures({ of }: { of: Clicks }) {
  const texts = botsText.clicks;
  return (
    <>
      <SimpleGrid cols={{ base: 2, sm: 4 }} spacing="sm">
        <Tile label={texts.all} value={countText(of.clicks)} />
        <Tile label={texts.invalid} value={countText(of.invalid)} />
        <Tile label={texts.share} value={percentText(of.invalid, of.clicks)} />
        <Tile label={texts.spend} value={of.spend === null ? "–" : amountText(of.spend)}>
          {of.spend === null && texts.spendUnknown}
        </Tile>
      </SimpleGrid>
      <TimeChart
        label={texts.chart}
        times={of.days.map(({ day }) => Date.parse(day))}
        step="day"
        timeZone="UTC"
        height={180}
        isRunning
        series={[
          { name: texts.invalid, values: of.days.map(({ invalid }) => invalid), tone: "accent" },
          { name: texts.others, values: of.days.map(({ clicks, invalid }) => Math.max(0, clicks - invalid)), tone: "quiet" },
        ]}
      />
    </>
  );
}

/** The currency is the one in which the cost was entered. */
const amountText = (value: number) => countText(Math.round(value));

function columnsOf(hasSpend: boolean): Column<Campaign>[] {
  const texts = botsText.clicks;
  return [
    {
      title: texts.campaign,
      cell: ({ campaign, clickId }) => (
        <Stack gap={0}>
          <Text size="sm" style={{ overflowWrap: "anywhere" }}>
            {campaign || <span className="cc-quiet">{texts.noCampaign}</span>}
          </Text>
          <Text size="xs" c="dimmed" hiddenFrom="sm">
            {clickId}
          </Text>
        </Stack>
      ),
    },
    { title: texts.clickId, wide: true, cell: ({ clickId }) => <span className="cc-mono">{clickId}</span> },
    { title: texts.all, align: "right", wide: true, cell: ({ clicks }) => countText(clicks) },
    { title: texts.invalid, align: "right", cell: ({ invalid }) => countText(invalid) },
    { title: texts.share, align: "right", cell: ({ invalid, clicks }) => percentText(invalid, clicks) },
    ...(hasSpend
      ? [{ title: texts.spend, align: "right", cell: ({ spend }) => amountText(spend ?? 0) } satisfies Column<Campaign>]
      : []),
  ];
}
