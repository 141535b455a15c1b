// Copies settings from another site, group by group. It first shows what will be replaced.

import { Alert, Checkbox, Group, Select, Stack, Text } from "@mantine/core";
import { Info } from "lucide-react";
import { useState } from "react";
import { Card } from "../../../common/Page.tsx";
import { useApi, useSend } from "../../../common/api/query.ts";
import { useMay, useSiteId, useSites } from "../../../common/api/session.ts";
import { ConfirmButton } from "../../../common/dialogs.tsx";
import { notify } from "../../../common/notices.tsx";
import { siteSettingsText } from "../../../messages/siteSettings.ts";
import { noteText, settingGroups, settingName, settingText } from "../../../common/settings/settingNames.ts";
import { LoadState } from "../../../common/states.tsx";
import { configurationText } from "../../../messages/configuration.ts";

type Change = { name: string; here: string; there: string };

export function CopySettings() {
  const site = useSiteId();
  const mayChange = useMay("admin", site);
  const others = useSites().data?.items.filter(({ id }) => id !== site) ?? [];
  const [from, setFrom] = useState<string | null>(null);
  const [chosen, setChosen] = useState<string[]>(["traffic"]);
  const send = useSend("POST /sites/:site/settings/copy", {
    onDone: () => notify(configurationText.copy.done),
  });
  const changes = useChanges(site, from, chosen);

  if (!mayChange || others.length === 0) return null;
  const fromName = others.find(({ id }) => id === from)?.name ?? "";
  return (
    <Card title={configurationText.copy.title} about={configurationText.copy.about}>
      <Stack gap="md">
        <Select
          label={configurationText.copy.from}
          placeholder={configurationText.copy.choose}
          searchable
          maw={400}
          data={others.map(({ id, name }) => ({ value: id, label: name }))}
          value={from}
          onChange={setFrom}
        />
        <Checkbox.Group label={configurationText.copy.groups} value={chosen} onChange={setChosen}>
          <Group gap="md" mt={6}>
            {settingGroups.map(({ group }) => (
              <Checkbox key={group} value={group} label={siteSettingsText.groups[group]} />
            ))}
          </Group>
        </Checkbox.Group>
        {from !== null && <ReplacedSettings changes={changes} />}
        {send.data?.notes.map((note) => (
          <Alert key={note} variant="light" color="yellow" icon={<Info size={18} />} role="status">
            {noteText(note)}
          </Alert>
        ))}
        {from !== null && (changes.list?.length ?? 0) > 0 && (
          <div>
            <ConfirmButton
              label={configurationText.copy.title}
              danger={false}
              question={configurationText.copy.question(fromName)}
              consequence={configurationText.copy.consequence(
                changes.list?.length ?? 0,
                changes.list?.map(({ name }) => settingName(name)).join("; ") ?? "",
              )}
              confirm={configurationText.copy.submit}
              onConfirm={() =>
                send.mutateAsync({
                  params: { site },
                  body: { from, names: changes.list?.map(({ name }) => name) ?? [] },
                })
              }
              of={send}
            />
          </div>
        )}
      </Stack>
    </Card>
  );
}

function useChanges(site: string, from: string | null, groups: readonly string[]) {
  const mine = useApi("GET /sites/:site/settings", { params: { site } });
  const theirs = useApi("GET /sites/:site/settings", { params: { site: from ?? "" } }, { enabled: from !== null });
  const names = settingGroups.filter(({ group }) => groups.includes(group)).flatMap((one): readonly string[] => one.names);
  const list = theirs.data?.items
    .filter(({ name }) => names.includes(name))
    .map(({ name, value }): Change => {
      const here = mine.data?.items.find((one) => one.name === name)?.value ?? "";
      return { name, here, there: value };
    })
    // Two webhook URLs on one host look the same here, but may differ.
    .filter(({ name, here, there }) => here !== there || (name === "alert_webhook" && there !== "none"));
  return { list, error: theirs.error ?? mine.error };
}

const truncate = (text: string) => (text.length > 80 ? `${text.slice(0, 80)}…` : text);

function ReplacedSettings({ changes: { list, error } }: { changes: ReturnType<typeof useChanges> }) {
  if (error || !list) return <LoadState of={{ data: list, error }} rows={2} />;
  if (list.length === 0)
    return (
      <Text size="sm" c="dimmed">
        {configurationText.copy.nothing}
      </Text>
    );
  return (
    <div style={{ overflowX: "auto" }} role="region" tabIndex={0} aria-label={configurationText.copy.replaced}>
      <table className="cc-table" aria-label={configurationText.copy.replaced}>
        <thead>
          <tr>
            <th scope="col">{configurationText.copy.columns.setting}</th>
            <th scope="col">{configurationText.copy.columns.current}</th>
            <th scope="col">{configurationText.copy.columns.after}</th>
          </tr>
        </thead>
        <tbody>
          {list.map(({ name, here, there }) => (
            <tr key={name}>
              <td>{settingName(name)}</td>
              <td>{truncate(settingText(here))}</td>
              <td>{truncate(settingText(there))}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
