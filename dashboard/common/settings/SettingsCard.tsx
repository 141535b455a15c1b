// The settings of the site on a page: cards with some of them each, which one button saves together.

import { Alert, Stack, Text } from "@mantine/core";
import { Info } from "lucide-react";
import { createContext, useContext, useState, type ReactNode } from "react";
import { Card } from "../Page.tsx";
import { commonText } from "../../messages/common.ts";
import { noteText } from "./settingNames.ts";
import { queryClient, send, useApi } from "../api/query.ts";
import { useMay, useSite, useSiteId } from "../api/session.ts";
import { SaveBar } from "../forms/SaveBar.tsx";
import { useForm } from "../forms/useForm.ts";
import { notify } from "../notices.tsx";
import { LoadState } from "../states.tsx";
import { undoOf } from "./undo.ts";
import { WhatIfButton } from "./WhatIf.tsx";
import { whatIfSettings } from "../../../src/contract/whatIf/differences.ts";

export type SettingsForm = {
  value: (name: string) => string;
  /** The saved value. */
  saved: (name: string) => string;
  defaultValue: (name: string) => string;
  change: (name: string, text: string) => void;
  fault: (name: string) => string | null;
  isReadOnly: boolean;
};

const SettingsContext = createContext<{ form: SettingsForm | null; state: ReactNode } | null>(null);

/** The name of the site is saved with its settings, and is none of them. */
export const siteName = "siteName";

/** The form around the cards. */
export function SiteSettings({ children }: { children: ReactNode }) {
  const site = useSiteId();
  const name = useSite()?.name ?? "";
  const mayChange = useMay("admin", site);
  const { data, error, refetch } = useApi("GET /sites/:site/settings", { params: { site } });
  const [notes, setNotes] = useState<readonly string[]>([]);
  const setting = (one: string) => data?.items.find((item) => item.name === one);
  const values: Record<string, string> = {
    ...Object.fromEntries(data?.items.map((item) => [item.name, item.value]) ?? []),
    [siteName]: name,
  };
  const form = useForm({
    values,
    fields: { name: siteName },
    save: async (_, { [siteName]: newName, ...settings }) => {
      if (newName !== undefined) await send("PATCH /sites/:site", { params: { site }, body: { name: newName } });
      if (Object.keys(settings).length === 0) return null;
      const changed = settings as Record<string, string>;
      const before = Object.fromEntries(Object.keys(changed).map((one) => [one, values[one] ?? ""]));
      return { ...(await send("PATCH /sites/:site/settings", { params: { site }, body: { settings: changed } })), before };
    },
    onDone: (answer) => {
      if (answer) queryClient.setQueryData(["GET /sites/:site/settings", { params: { site } }], { items: answer.items });
      setNotes(answer?.notes ?? []);
      notify(commonText.saved, answer ? undoOf(site, answer.before) : undefined);
    },
  });
  const settings: SettingsForm | null = data
    ? {
        value: (one) => form.values[one] ?? "",
        saved: (one) => (one === siteName ? name : (setting(one)?.value ?? "")),
        defaultValue: (one) => setting(one)?.default ?? "",
        change: form.set,
        fault: form.fault,
        isReadOnly: !mayChange,
      }
    : null;
  const judged = Object.fromEntries(
    Object.entries(form.changes).flatMap(([one, text]) =>
      (whatIfSettings as readonly string[]).includes(one) && text !== undefined ? [[one, text]] : [],
    ),
  );
  const state = <LoadState of={{ data, error, refetch }} rows={2} />;
  return (
    <form {...form.props} className={mayChange ? undefined : "cc-readonly"}>
      <Stack gap="lg">
        <SettingsContext value={{ form: settings, state }}>{children}</SettingsContext>
        {notes.map((note) => (
          <Alert key={note} variant="light" color="yellow" icon={<Info size={18} />} role="status">
            {noteText(note)}
          </Alert>
        ))}
        {form.isChanged && (
          <SaveBar error={form.error} isPending={form.isPending} onDiscard={form.discard}>
            {Object.keys(judged).length > 0 && <WhatIfButton site={site} changes={{ settings: judged }} />}
          </SaveBar>
        )}
      </Stack>
    </form>
  );
}

export function SettingsCard({
  title,
  about,
  children,
  fields,
}: {
  title: string;
  about?: ReactNode;
  /** Shown below the fields. */
  children?: ReactNode;
  fields: (form: SettingsForm) => ReactNode;
}) {
  const context = useContext(SettingsContext);
  if (!context) throw new Error(`the card ${title} is not in the form of the settings`);
  const { form, state } = context;
  return (
    <Card title={title} about={about}>
      {state}
      {form && (
        <Stack gap="md">
          {fields(form)}
          {form.isReadOnly && (
            <Text size="sm" c="dimmed">
              {commonText.adminsOnly}
            </Text>
          )}
        </Stack>
      )}
      {children}
    </Card>
  );
}
