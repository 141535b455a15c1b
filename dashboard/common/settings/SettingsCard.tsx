// A card with some settings of the site, saved together. Input stays until it is saved or discarded.

import { Alert, Button, Group, Stack, Text } from "@mantine/core";
import { Form } from "../Form.tsx";
import { Info } from "lucide-react";
import { useState, type ReactNode } from "react";
import { Card } from "../Page.tsx";
import { commonText } from "../../messages/common.ts";
import { noteText } from "./settingNames.ts";
import { call } from "../api/api.ts";
import { queryClient, useApi, useSend } from "../api/query.ts";
import { useMay, useSiteId } from "../api/session.ts";
import { fieldError, otherError } from "../fields.ts";
import { capitalize } from "../format/sentence.ts";
import { notify } from "../notices.tsx";
import { LoadState, RequestError } from "../states.tsx";

export type SettingsForm = {
  value: (name: string) => string;
  /** The saved value. */
  saved: (name: string) => string;
  defaultValue: (name: string) => string;
  change: (name: string, text: string) => void;
  fault: (name: string) => string | null;
  isReadOnly: boolean;
};

export function SettingsCard({
  title,
  about,
  actions,
  children,
  fields,
}: {
  title: string;
  about?: ReactNode;
  actions?: ReactNode;
  /** Shown below the form. */
  children?: ReactNode;
  fields: (form: SettingsForm) => ReactNode;
}) {
  const site = useSiteId();
  const mayChange = useMay("admin", site);
  const { data, error, refetch } = useApi("GET /sites/:site/settings", { params: { site } });
  const [draft, setDraft] = useState<Record<string, string>>({});
  const save = useSend("PATCH /sites/:site/settings", {
    onDone: (answer, { body }) => {
      setDraft({});
      queryClient.setQueryData(["GET /sites/:site/settings", { params: { site } }], { items: answer.items });
      notify(commonText.saved, undoOf(site, body.settings, before));
    },
  });
  const setting = (name: string) => data?.items.find((one) => one.name === name);
  const saved = (name: string) => setting(name)?.value ?? "";
  const changed = Object.entries(draft).filter(([name, text]) => text !== saved(name));
  const before = Object.fromEntries(changed.map(([name]) => [name, saved(name)]));
  const names = changed.map(([name]) => name);

  const form: SettingsForm = {
    value: (name) => draft[name] ?? saved(name),
    saved,
    defaultValue: (name) => setting(name)?.default ?? "",
    change: (name, text) => setDraft((now) => ({ ...now, [name]: text })),
    fault: (name) => settingFault(fieldError(save.error, name), name),
    isReadOnly: !mayChange,
  };
  return (
    <Card title={title} about={about} actions={actions}>
      <LoadState of={{ data, error, refetch }} rows={2} />
      {data && (
        <Form
          onSubmit={() => {
            if (names.length) save.mutate({ params: { site }, body: { settings: Object.fromEntries(changed) } });
          }}
        >
          <Stack gap="md">
            {fields(form)}
            <RequestError error={otherError(save.error, ...names)} />
            {save.data?.notes.map((note) => (
              <Alert key={note} variant="light" color="yellow" icon={<Info size={18} />} role="status">
                {noteText(note)}
              </Alert>
            ))}
            {mayChange ? (
              <Group gap="xs">
                <Button type="submit" loading={save.isPending} disabled={names.length === 0}>
                  {commonText.save}
                </Button>
                {names.length > 0 && (
                  <Button
                    variant="subtle"
                    color="gray"
                    onClick={() => {
                      setDraft({});
                      save.reset();
                    }}
                  >
                    {commonText.discard}
                  </Button>
                )}
              </Group>
            ) : (
              <Text size="sm" c="dimmed">
                {commonText.adminsOnly}
              </Text>
            )}
          </Stack>
        </Form>
      )}
      {children}
    </Card>
  );
}

/** The field shows the setting's name and has a choice of units, so both are left out of its error. */
function settingFault(message: string | null, name: string): string | null {
  if (message === null) return null;
  const fault = message.replace(new RegExp(`^${name}:? `, "i"), "").replace(/, written like [^.]+/, "");
  return capitalize(fault);
}

/** A webhook URL is never shown in full, so its change cannot be undone. */
function undoOf(site: string, changed: Record<string, string>, before: Record<string, string>) {
  if ("alert_webhook" in changed) return undefined;
  return () =>
    void call("PATCH /sites/:site/settings", { params: { site }, body: { settings: before } })
      .then(() => notify(commonText.undone))
      .catch((error: unknown) => notify(error instanceof Error ? error.message : commonText.couldNotUndo))
      .finally(() => void queryClient.invalidateQueries());
}
