// Imports a file: choose it, match its columns, check it, import it. The browser keeps the file and sends it in parts.

import { Button, Checkbox, Fieldset, FileButton, Group, Progress, Radio, SegmentedControl, Stack, Text } from "@mantine/core";
import { FileUp, Upload } from "lucide-react";
import { useState } from "react";
import { uploadKinds, type UploadKind } from "../../../../src/kernel/imports.ts";
import { Card } from "../../../common/Page.tsx";
import { ApiError, upload } from "../../../common/api/api.ts";
import { usePlatformName } from "../../../common/api/platforms.ts";
import { useMay, useSite, useSiteId } from "../../../common/api/session.ts";
import { ConfirmButton } from "../../../common/dialogs.tsx";
import { partsOf, readFile, type TextFile } from "../../../common/files.ts";
import { decimalText, percentText } from "../../../common/format/numbers.ts";
import { DocsLink } from "../../../common/links.tsx";
import { PlatformName } from "../../../common/platforms/PlatformMark.tsx";
import { RequestError } from "../../../common/states.tsx";
import { importsText } from "../../../messages/imports.ts";
import { listText } from "../../../messages/catalogue/plural.ts";
import { RichText } from "../../../common/format/RichText.tsx";
import { ConfigurationPage } from "../../frame/SectionPage.tsx";
import { useConnections, type Connection } from "../../integrations/connections.tsx";
import { Columns, firstFormat, missingOf, wishOf, type FileColumns, type Format } from "./Columns.tsx";
import { ImportList } from "./ImportList.tsx";
import { ImportReport } from "./ImportReport.tsx";
import { useImport } from "./runImport.ts";

type Opened = { kind: UploadKind; file: TextFile; columns: FileColumns };

export default function Import() {
  const site = useSiteId();
  const mayChange = useMay("admin", site);
  const [opened, setOpened] = useState<Opened | null>(null);
  return (
    <ConfigurationPage tab="import">
      {mayChange ? (
        <>
          <ChooseFile site={site} opened={opened} onOpen={setOpened} />
          {/* Another file begins anew. */}
          {opened && <ImportFile key={`${opened.kind} ${opened.file.sha256}`} site={site} {...opened} />}
        </>
      ) : (
        <Card title={importsText.title}>
          <Text size="sm" c="dimmed">
            {importsText.viewer}
          </Text>
        </Card>
      )}
      <ImportList />
    </ConfigurationPage>
  );
}

function ChooseFile({ site, opened, onOpen }: { site: string; opened: Opened | null; onOpen: (opened: Opened | null) => void }) {
  const [kind, setKind] = useState<UploadKind>("conversions");
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError | null>(null);
  const open = async (file: TextFile, of: UploadKind) => {
    const [first] = partsOf(file.text);
    const columns = await upload(
      "POST /sites/:site/imports/columns",
      { params: { site }, query: { kind: of } },
      first?.text ?? "",
    );
    onOpen({ kind: of, file, columns });
  };
  const attempt = async (work: () => Promise<void>) => {
    setBusy(true);
    setError(null);
    try {
      await work();
    } catch (failure) {
      if (!(failure instanceof ApiError)) throw failure;
      onOpen(null);
      setError(failure);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Card title={importsText.title} about={importsText.about}>
      <Stack gap="md">
        <SegmentedControl
          aria-label={importsText.kind}
          style={{ alignSelf: "flex-start" }}
          value={kind}
          onChange={(chosen) => {
            setKind(chosen);
            if (opened) void attempt(() => open(opened.file, chosen));
          }}
          data={uploadKinds.map((value) => ({ value, label: importsText.kinds[value] }))}
        />
        <Group gap="sm">
          <FileButton
            onChange={(file) => file && void attempt(async () => open(await readFile(file), kind))}
            accept=".csv,.tsv,.txt,.ndjson,.jsonl,.json,text/csv"
          >
            {(props) => (
              <Button
                {...props}
                leftSection={<Upload size={15} aria-hidden />}
                variant={opened ? "default" : "filled"}
                loading={isBusy}
              >
                {opened ? importsText.chooseOther : importsText.choose}
              </Button>
            )}
          </FileButton>
          <Text size="sm" c="dimmed" style={{ overflowWrap: "anywhere" }}>
            {opened ? (
              importsText.size(opened.file.name, decimalText(opened.file.text.length / 1024))
            ) : (
              <RichText
                text={importsText.help}
                tags={{ docs: (text) => <DocsLink page="how-to/import-conversions">{text}</DocsLink> }}
              />
            )}
          </Text>
        </Group>
        <RequestError error={error} />
      </Stack>
    </Card>
  );
}

function ImportFile({ site, kind, file, columns }: Opened & { site: string }) {
  const zone = useSite()?.timeZone ?? "UTC";
  const [format, setFormat] = useState<Format>(() => firstFormat(columns, zone));
  const [isSent, setSent] = useState(false);
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const connections = useConnections(site).data?.items ?? [];
  const { progress, report, error, start, stop, clear } = useImport(site);
  const nameOf = useConnectionNames(connections);
  const deliver = isSent && chosen.length > 0 ? chosen.join(",") : "none";
  const wish = wishOf(kind, format, deliver);
  const isReady = missingOf(kind, format).length === 0 && !(isSent && chosen.length === 0);
  // A change after the check needs another one.
  const isChecked = report?.state === "dry run" && JSON.stringify(report.wish) === JSON.stringify(wish);
  const rows = isChecked ? report.tally.imported : 0;
  const isBusy = progress !== null;
  const change = (next: Format) => {
    clear();
    setFormat(next);
  };
  const consequence =
    kind === "identities"
      ? importsText.consequence.identities
      : deliver === "none"
        ? importsText.consequence.none
        : importsText.consequence.send(listText(chosen.map(nameOf)));
  return (
    <>
      <Fieldset variant="unstyled" mx={0} disabled={isBusy} aria-label={file.name}>
        <Stack gap="lg">
          <Columns kind={kind} columns={columns} format={format} onChange={change} />
          {kind === "conversions" && (
            <Card title={importsText.deliver.title} about={importsText.deliver.about}>
              <Radio.Group
                aria-label={importsText.deliver.title}
                value={isSent ? "chosen" : "none"}
                onChange={(value) => {
                  clear();
                  setSent(value === "chosen");
                }}
              >
                <Stack gap="sm">
                  <Radio value="none" label={importsText.deliver.none} />
                  <Radio value="chosen" label={importsText.deliver.chosen} disabled={connections.length === 0} />
                </Stack>
              </Radio.Group>
              {isSent && (
                <Checkbox.Group
                  mt="sm"
                  ml="xl"
                  label={importsText.deliver.connections}
                  value={[...chosen]}
                  onChange={(value) => {
                    clear();
                    setChosen(value);
                  }}
                >
                  <Stack gap="xs" mt={4}>
                    {connections.map(({ id, platform }) => (
                      <Checkbox
                        key={id}
                        value={id}
                        label={
                          <PlatformName id={platform}>
                            <span>{nameOf(id)}</span>
                          </PlatformName>
                        }
                      />
                    ))}
                  </Stack>
                </Checkbox.Group>
              )}
            </Card>
          )}
        </Stack>
      </Fieldset>
      <Card>
        <Stack gap="md">
          {progress ? (
            <Running progress={progress} onStop={stop} />
          ) : (
            <Group gap="sm">
              <Button variant={rows > 0 ? "default" : "filled"} disabled={!isReady} onClick={() => void start(file, wish, true)}>
                {importsText.check}
              </Button>
              {rows > 0 && (
                <ConfirmButton
                  label={importsText.import(rows)}
                  icon={<FileUp size={15} aria-hidden />}
                  variant="filled"
                  danger={false}
                  question={importsText.question(rows)}
                  consequence={consequence}
                  confirm={importsText.import(rows)}
                  onConfirm={async () => void start(file, wish, false)}
                />
              )}
            </Group>
          )}
          <RequestError error={error} />
          <div aria-live="polite">{report && <ImportReport report={report} file={file} delimiter={columns.delimiter} />}</div>
        </Stack>
      </Card>
    </>
  );
}

/** Two connections of a platform are told apart by their ids. */
function useConnectionNames(connections: readonly Connection[]): (id: string) => string {
  const platformName = usePlatformName();
  return (id) => {
    const platform = connections.find((one) => one.id === id)?.platform ?? id;
    const isOneOfSeveral = connections.filter((one) => one.platform === platform).length > 1;
    return isOneOfSeveral ? `${platformName(platform)} (${id})` : platformName(platform);
  };
}

function Running({
  progress: { share, rows, waitingFor, dryRun },
  onStop,
}: {
  progress: NonNullable<ReturnType<typeof useImport>["progress"]>;
  onStop: () => void;
}) {
  const platformName = usePlatformName();
  return (
    <Group gap="md" wrap="nowrap" align="flex-end">
      <Stack gap={4} style={{ flex: 1 }}>
        <Text size="sm">{importsText.progress(rows, percentText(share, 1))}</Text>
        <Progress value={share * 100} animated aria-label={dryRun ? importsText.checking : importsText.importing} />
        <Text size="sm" c="dimmed">
          {waitingFor === null ? importsText.keepOpen : importsText.waitingFor(platformName(waitingFor))}
        </Text>
      </Stack>
      <Button variant="default" size="xs" onClick={onStop}>
        {importsText.stop}
      </Button>
    </Group>
  );
}
