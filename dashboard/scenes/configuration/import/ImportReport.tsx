// What a check or an import did with the rows of a file.

import { Alert, Button, Group, List, Stack, Text } from "@mantine/core";
import { CircleCheck, Download, Info } from "lucide-react";
import { usePlatformName } from "../../../common/api/platforms.ts";
import { PlatformMark } from "../../../common/platforms/PlatformMark.tsx";
import type { TextFile } from "../../../common/files.ts";
import { countText } from "../../../common/format/numbers.ts";
import { stateWord } from "../../../common/values.tsx";
import { importsText } from "../../../messages/imports.ts";
import { serverText } from "../../../messages/server.ts";
import { Fact } from "../../integrations/connections.tsx";
import { refusedFile, type Report } from "./runImport.ts";

export function ImportReport({ report, file, delimiter }: { report: Report; file: TextFile; delimiter: string | null }) {
  const texts = importsText.report;
  const { state, tally, refusedRows, hasSeveralParts } = report;
  const isDry = state === "dry run";
  const isClean = tally.refused === 0 && state !== "stopped" && state !== "done before";
  const facts: [string, number][] = [
    [texts.rows, tally.rows],
    [isDry ? texts.wouldImport : texts.imported, tally.imported],
    [isDry && hasSeveralParts ? texts.atLeastDuplicates : texts.duplicates, tally.duplicates],
    [texts.filtered, tally.filtered],
    [texts.refused, tally.refused],
  ];
  return (
    <Alert
      variant="light"
      color={isClean ? "green" : "yellow"}
      icon={isClean ? <CircleCheck size={18} /> : <Info size={18} />}
      title={{ "dry run": texts.dry, done: texts.done, stopped: texts.stopped, "done before": texts.before }[state]}
    >
      <Stack gap="sm">
        <Group gap="xl">
          {facts.map(([label, count]) => (
            <Fact key={label} label={label}>
              {countText(count)}
            </Fact>
          ))}
        </Group>
        <Deliveries of={tally.deliveries} />
        {tally.refused > 0 && (
          <div>
            <Text size="sm" fw={500}>
              {texts.reasons}
            </Text>
            <List size="sm">
              {Object.entries(tally.reasons).map(([reason, { count, lines }]) => (
                <List.Item key={reason}>
                  {texts.reason(countText(count), serverText(reason))}{" "}
                  {texts.lines(count, `${lines.join(", ")}${count > lines.length ? " …" : ""}`)}
                </List.Item>
              ))}
            </List>
          </div>
        )}
        {refusedRows.length > 0 && (
          <Button
            variant="default"
            size="xs"
            style={{ alignSelf: "flex-start" }}
            leftSection={<Download size={14} aria-hidden />}
            onClick={() => save(refusedName(file.name), refusedFile(file, refusedRows, delimiter))}
          >
            {texts.download}
          </Button>
        )}
      </Stack>
    </Alert>
  );
}

function Deliveries({ of }: { of: Report["tally"]["deliveries"] }) {
  const platformName = usePlatformName();
  const texts = importsText.report;
  const platforms = Object.entries(of);
  if (platforms.length === 0) return null;
  return (
    <div>
      <Text size="sm" fw={500}>
        {texts.deliveries}
      </Text>
      <List size="sm">
        {platforms.map(([platform, states]) => (
          <List.Item key={platform} icon={<PlatformMark id={platform} />}>
            {texts.platform(
              platformName(platform),
              Object.entries(states)
                .map(([state, count]) => texts.state(countText(count), stateWord(state)))
                .join(", "),
            )}
          </List.Item>
        ))}
      </List>
    </div>
  );
}

const refusedName = (name: string) => name.replace(/(\.\w+)?$/, (end) => `-refused${end || ".csv"}`);

function save(name: string, text: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
