// Connects an assistant: makes its key, and shows what to paste for the common ones.

import { Checkbox, List, Select, Stack, Tabs, Text } from "@mantine/core";
import { Plus } from "lucide-react";
import { useState } from "react";
import { DialogForm, FormButton } from "../../common/FormDialog.tsx";
import { Card } from "../../common/Page.tsx";
import { send } from "../../common/api/query.ts";
import { useSession } from "../../common/api/session.ts";
import { OneTimeSecret } from "../../common/dialogs.tsx";
import { useForm } from "../../common/forms/useForm.ts";
import { DocsLink } from "../../common/links.tsx";
import { Code } from "../../common/values.tsx";
import { settingsText } from "../../messages/settings.ts";
import { SettingsPage } from "../frame/SectionPage.tsx";
import { OwnersOnly } from "./OwnersOnly.tsx";
import { samplesFor } from "./assistantSamples.ts";
import { siteOfScope, useOwnedScopes } from "./scopes.ts";

export default function Assistants() {
  const isOwner = useOwnedScopes().length > 0;
  const session = useSession();
  return (
    <SettingsPage tab="assistants">
      {isOwner || !session.data ? (
        <Connect />
      ) : (
        <OwnersOnly title={settingsText.assistants.ownersOnly}>{settingsText.assistants.aboutOwnersOnly}</OwnersOnly>
      )}
    </SettingsPage>
  );
}

function Connect() {
  const [created, setCreated] = useState<string | null>(null);
  const texts = settingsText.assistants;
  return (
    <>
      <Card title={texts.title} about={texts.about} actions={<CreateKey onCreated={setCreated} />}>
        <Stack gap="sm">
          <Samples apiKey="ccm_…" />
          <List size="sm" c="dimmed">
            <List.Item>{texts.ask}</List.Item>
            <List.Item>{texts.noPeople}</List.Item>
            <List.Item>
              <DocsLink page="how-to/assistants">{texts.more}</DocsLink>
            </List.Item>
          </List>
        </Stack>
      </Card>
      <OneTimeSecret title={texts.secret} secret={created} onClose={() => setCreated(null)}>
        <Text size="sm">{texts.paste}</Text>
        <Samples apiKey={created ?? ""} />
      </OneTimeSecret>
    </>
  );
}

function Samples({ apiKey }: { apiKey: string }) {
  const texts = settingsText.assistants;
  const origin = useSession().data?.installation.url ?? location.origin;
  const samples = samplesFor(`${origin}/mcp`, apiKey);
  const names = Object.keys(samples) as (keyof typeof samples)[];
  return (
    <Tabs defaultValue="claudeCode" keepMounted={false} variant="pills">
      <Tabs.List aria-label={texts.assistant}>
        {names.map((name) => (
          <Tabs.Tab key={name} value={name} px="sm" py={4}>
            {texts.names[name]}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {names.map((name) => (
        <Tabs.Panel key={name} value={name} pt="sm">
          <Stack gap="xs">
            <Text size="sm" c="dimmed">
              {texts.where[name]}
            </Text>
            <Code label={texts.names[name]}>{samples[name]}</Code>
          </Stack>
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}

function CreateKey({ onCreated }: { onCreated: (key: string) => void }) {
  const texts = settingsText.assistants;
  return (
    <FormButton label={texts.createButton} title={texts.createTitle} leftSection={<Plus size={16} />}>
      {(close) => <Form onClose={close} onCreated={onCreated} />}
    </FormButton>
  );
}

function Form({ onClose, onCreated }: { onClose: () => void; onCreated: (key: string) => void }) {
  const texts = settingsText.assistants;
  const scopes = useOwnedScopes();
  const form = useForm({
    values: { scope: scopes[0]?.value ?? "", mayWrite: false },
    fields: { site: "scope" },
    save: ({ scope, mayWrite }) => {
      const granted = mayWrite ? (["read", "write"] as const) : (["read"] as const);
      return send("POST /api-keys", { body: { name: texts.keyName, site: siteOfScope(scope), scopes: [...granted] } });
    },
    onDone: ({ key }) => {
      onClose();
      onCreated(key);
    },
  });
  return (
    <DialogForm form={form} submit={settingsText.create} onClose={onClose}>
      <Select
        {...form.field("scope")}
        label={settingsText.apiKeys.scope}
        data={scopes}
        searchable={scopes.length > 8}
        allowDeselect={false}
        data-autofocus
      />
      <Checkbox
        label={texts.mayWrite}
        description={texts.aboutMayWrite}
        checked={form.values.mayWrite}
        onChange={(event) => form.set("mayWrite", event.currentTarget.checked)}
      />
    </DialogForm>
  );
}
