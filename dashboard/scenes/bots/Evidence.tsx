// The kinds of evidence with their modes, and the visits and submitted emails that each touches.

import { Alert, Anchor, Box, Button, Group, SegmentedControl, Stack, Text } from "@mantine/core";
import { Eye, ShieldCheck } from "lucide-react";
import { useRef, useState } from "react";
import { Card } from "../../common/Page.tsx";
import type { Answer } from "../../common/api/api.ts";
import { useApi, useSend } from "../../common/api/query.ts";
import { useMay, useSiteId } from "../../common/api/session.ts";
import { RichText } from "../../common/format/RichText.tsx";
import { countText, percentText } from "../../common/format/numbers.ts";
import { reasonText } from "../../common/format/reasons.ts";
import { DocsLink } from "../../common/links.tsx";
import { Rows, type Column } from "../../common/lists/Rows.tsx";
import { notify } from "../../common/notices.tsx";
import { WhatIfButton, withShadows } from "../../common/settings/WhatIf.tsx";
import { undoOf } from "../../common/settings/undo.ts";
import { Empty, RequestError } from "../../common/states.tsx";
import { botsText } from "../../messages/bots.ts";
import { listText } from "../../messages/catalogue/plural.ts";
import { commonText } from "../../messages/common.ts";
import { wordText } from "../../messages/server.ts";
import { BotsPage } from "../frame/SectionPage.tsx";
import { GetTag } from "./GetTag.tsx";

type Signal = Answer<"GET /sites/:site/traffic/evidence">["signals"][number];
type Mode = Signal["mode"];
type Counts = Pick<Answer<"GET /sites/:site/traffic/evidence">, "emails" | "conversions">;

/** The points of a signal that decides alone. */
const hardPoints = 100;
const modes = ["off", "shadow", "on"] as const;

export default function Evidence() {
  const site = useSiteId();
  const { data, error, refetch } = useApi("GET /sites/:site/traffic/evidence", { params: { site } });
  const settings = useApi("GET /sites/:site/settings", { params: { site } });
  const before = useRef("");
  const save = useSend("PATCH /sites/:site/settings", {
    onDone: () => notify(commonText.saved, undoOf(site, { evidence: before.current })),
  });
  const mayChange = useMay("admin", site);
  const [showAll, setShowAll] = useState(false);
  const texts = botsText.evidence;
  const seen = data?.signals.filter(
    ({ visits, emails, conversions, mode }) => visits + emails + conversions > 0 || mode === "off",
  );
  const shown = showAll ? data?.signals : seen;
  const safe = (data?.signals ?? []).filter(
    ({ mode, visits, emails, conversions }) => mode === "shadow" && visits > 0 && emails + conversions === 0,
  );
  const saved = settings.data?.items.find(({ name }) => name === "evidence")?.value ?? "";

  const setMode = (signals: readonly Signal[], mode: Mode) => {
    before.current = saved;
    const names = signals.map(({ signal }) => signal.toLowerCase());
    const kept = saved.split(",").filter((entry) => entry && !names.includes(entry.slice(0, entry.lastIndexOf("="))));
    const evidence = [...kept, ...names.map((name) => `${name}=${mode}`)].join(",");
    save.mutate({ params: { site }, body: { settings: { evidence } } });
  };
  const isBusy = save.isPending || !settings.data;

  return (
    <BotsPage tab="evidence">
      <Card
        title={texts.title}
        padded={false}
        actions={
          settings.data && (
            <WhatIfButton site={site} changes={{ settings: { evidence: withShadows(saved) } }} about={texts.whatIf} />
          )
        }
        about={
          <RichText
            text={texts.about}
            tags={{ docs: (words) => <DocsLink page="explanation/bot-filtering">{words}</DocsLink> }}
          />
        }
      >
        <Stack gap="sm" px="md" pb="sm">
          {data && shown && shown.length > 0 && (
            <Text size="sm" c="dimmed">
              {texts.aboutCounts(countText(data.emails), countText(data.conversions))}
            </Text>
          )}
          {safe.length > 0 && data && data.emails + data.conversions > 0 && mayChange && (
            <Alert variant="light" color="green" icon={<ShieldCheck size={18} />}>
              <Group justify="space-between" gap="sm">
                <Text size="sm" flex="1 1 280px">
                  {texts.safe(listText(safe.map(({ signal }) => reasonText(signal))))}
                </Text>
                <Button size="compact-sm" variant="default" loading={isBusy} onClick={() => setMode(safe, "on")}>
                  {texts.switchOn}
                </Button>
              </Group>
            </Alert>
          )}
          <RequestError error={save.error} />
        </Stack>
        <Rows
          label={texts.title}
          columns={columnsOf(data, mayChange && !isBusy, (signal, mode) => setMode([signal], mode))}
          rows={shown?.toSorted(
            (one, other) => other.conversions - one.conversions || other.emails - one.emails || other.visits - one.visits,
          )}
          keyOf={({ signal }) => signal}
          error={error}
          onRetry={() => void refetch()}
          empty={
            <Empty icon={Eye} title={texts.none} action={<GetTag />}>
              {texts.noneMore}
            </Empty>
          }
        />
        {data && seen && seen.length < data.signals.length && (
          <Anchor component="button" type="button" size="sm" m="md" onClick={() => setShowAll(!showAll)}>
            {showAll ? texts.showSeen : texts.showAll(data.signals.length)}
          </Anchor>
        )}
      </Card>
    </BotsPage>
  );
}

function columnsOf(all: Counts | undefined, mayChange: boolean, onMode: (signal: Signal, mode: Mode) => void): Column<Signal>[] {
  const texts = botsText.evidence;
  const modeOf = (one: Signal) => (
    <SegmentedControl
      size="xs"
      aria-label={texts.modeOf(reasonText(one.signal))}
      readOnly={!mayChange}
      value={one.mode}
      onChange={(mode) => onMode(one, mode)}
      data={modes.map((value) => ({ value, label: texts.modes[value] }))}
    />
  );
  return [
    {
      title: texts.signal,
      cell: (one) => (
        <Stack gap={0} align="flex-start">
          <Text size="sm" fw={500}>
            {reasonText(one.signal)}
          </Text>
          <Text size="xs" c="dimmed">
            {wordText(one.signal) ?? one.why}
          </Text>
          {/* A column of its own would leave no room for the sentence on a phone. */}
          <Box hiddenFrom="sm" mt={6}>
            {modeOf(one)}
          </Box>
        </Stack>
      ),
    },
    {
      title: texts.points,
      align: "right",
      wide: "lg",
      cell: ({ points }) => (points === hardPoints ? <span className="cc-quiet">{texts.decides}</span> : countText(points)),
    },
    { title: texts.visits, align: "right", wide: true, cell: ({ visits }) => countText(visits) },
    { title: texts.emails, align: "right", wide: true, cell: ({ emails }) => <Count of={emails} all={all?.emails} /> },
    { title: texts.conversions, align: "right", cell: ({ conversions }) => <Count of={conversions} all={all?.conversions} /> },
    { title: texts.mode, wide: true, cell: modeOf },
  ];
}

function Count({ of, all = 0 }: { of: number; all?: number | undefined }) {
  return (
    <Stack gap={0} align="flex-end">
      <span className="cc-number">{countText(of)}</span>
      {of > 0 && all > 0 && (
        <Text size="xs" c="dimmed" style={{ whiteSpace: "nowrap" }}>
          {botsText.evidence.ofAll(percentText(of, all))}
        </Text>
      )}
    </Stack>
  );
}
