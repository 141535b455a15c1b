// The scheduled export of data: where it goes, its last hours, and a query over its files.

import { Alert, Button, Group, Stack, Text } from "@mantine/core";
import { FolderOutput } from "lucide-react";
import { useState } from "react";
import { Card, Page } from "../../../common/Page.tsx";
import type { Answer } from "../../../common/api/api.ts";
import { useApi, useSend } from "../../../common/api/query.ts";
import { useMay, useSiteId } from "../../../common/api/session.ts";
import { ConfirmButton } from "../../../common/dialogs.tsx";
import { RichText } from "../../../common/format/RichText.tsx";
import { countText } from "../../../common/format/numbers.ts";
import { DocsLink } from "../../../common/links.tsx";
import { Rows, type Column } from "../../../common/lists/Rows.tsx";
import { notify } from "../../../common/notices.tsx";
import { Empty, LoadState, RequestError } from "../../../common/states.tsx";
import { Code, Time } from "../../../common/values.tsx";
import { dataExportText } from "../../../messages/dataExport.ts";
import { integrationsText } from "../../../messages/integrations.ts";
import { serverText } from "../../../messages/server.ts";
import { tabsOf } from "../connections.tsx";
import { ExportForm } from "./ExportForm.tsx";

export type Shown = Answer<"GET /sites/:site/data-export">;
type Exported = NonNullable<Shown["export"]>;
type Run = Exported["runs"][number];

export default function DataExport() {
  const site = useSiteId();
  return (
    <Page title={integrationsText.title} tabs={tabsOf(site)} tab="export">
      <ExportOf site={site} />
    </Page>
  );
}

function ExportOf({ site }: { site: string }) {
  const mayChange = useMay("admin", site);
  const query = useApi("GET /sites/:site/data-export", { params: { site } }, { everyMs: 15_000 });
  const [isOpen, setIsOpen] = useState(false);
  const { data } = query;
  if (!data) return <LoadState of={query} />;
  const found = data.export;
  const open = (
    <Button variant={found ? "default" : "filled"} onClick={() => setIsOpen(true)}>
      {found ? dataExportText.change : dataExportText.setUp}
    </Button>
  );
  return (
    <>
      <Card title={dataExportText.title} about={<About />} {...(found && mayChange ? { actions: open } : {})}>
        {found ? (
          <State site={site} of={found} mayChange={mayChange} />
        ) : (
          <Empty icon={FolderOutput} title={dataExportText.emptyTitle} action={mayChange ? open : undefined}>
            {dataExportText.empty}
          </Empty>
        )}
      </Card>
      {found && (
        <>
          <Card title={dataExportText.runs.title} padded={false}>
            <Rows
              label={dataExportText.runs.title}
              columns={columns()}
              rows={found.runs}
              keyOf={({ hour }) => String(hour)}
              empty={
                <Text size="sm" c="dimmed" p="md">
                  {dataExportText.runs.empty}
                </Text>
              }
            />
          </Card>
          <Card title={dataExportText.query.title} about={dataExportText.query.about}>
            <Code label={dataExportText.query.title}>{found.query}</Code>
          </Card>
        </>
      )}
      <ExportForm site={site} of={data} isOpen={isOpen} onClose={() => setIsOpen(false)} />
    </>
  );
}

const About = () => (
  <RichText text={dataExportText.about} tags={{ link: (text) => <DocsLink page="how-to/export-data">{text}</DocsLink> }} />
);

function State({ site, of, mayChange }: { site: string; of: Exported; mayChange: boolean }) {
  const params = { site };
  const retry = useSend("POST /sites/:site/data-export/retry", { onDone: () => notify(dataExportText.retrySoon) });
  const remove = useSend("DELETE /sites/:site/data-export");
  const place = of.to === "folder" ? dataExportText.folder : of.to;
  return (
    <Stack gap="xs">
      <Text size="sm" style={{ overflowWrap: "anywhere" }}>
        {of.to === "" ? (
          dataExportText.unreadable
        ) : (
          <RichText text={dataExportText.place} tags={{ place: () => <span className="cc-mono">{place}</span> }} />
        )}{" "}
        {of.nextAt === null ? (
          dataExportText.due
        ) : (
          <RichText text={dataExportText.next} tags={{ time: () => <Time at={of.nextAt} /> }} />
        )}{" "}
        {of.people && dataExportText.withPeople}
      </Text>
      {of.error !== null && (
        <Alert variant="light" color="red" role="alert">
          {serverText(of.error)}
        </Alert>
      )}
      {mayChange && (
        <Group gap="xs">
          {of.error !== null && (
            <Button variant="default" size="xs" loading={retry.isPending} onClick={() => retry.mutate({ params })}>
              {dataExportText.retry}
            </Button>
          )}
          <ConfirmButton
            label={dataExportText.remove}
            size="xs"
            question={dataExportText.question}
            consequence={dataExportText.consequence}
            confirm={dataExportText.remove}
            of={remove}
            onConfirm={() => remove.mutateAsync({ params })}
          />
        </Group>
      )}
      <RequestError error={retry.error} />
    </Stack>
  );
}

const columns = (): readonly Column<Run>[] => [
  { title: dataExportText.runs.hour, cell: ({ hour }) => <Time at={hour} /> },
  { title: dataExportText.runs.written, cell: ({ at }) => <Time at={at} />, wide: true },
  { title: dataExportText.runs.files, cell: ({ files }) => countText(files), align: "right" },
  { title: dataExportText.runs.rows, cell: ({ rows }) => countText(rows), align: "right" },
  {
    title: dataExportText.runs.size,
    cell: ({ bytes }) => dataExportText.runs.kilobytes(countText(Math.ceil(bytes / 1024))),
    align: "right",
  },
];
