import { Checkbox, Select, Stack, TextInput } from "@mantine/core";
import { DialogForm, FormButton } from "../../common/FormDialog.tsx";
import { Plus } from "lucide-react";
import { ExpiryField, expiryAt, expiryFields, noExpiry } from "../../common/ExpiryField.tsx";
import type { Answer } from "../../common/api/api.ts";
import { send } from "../../common/api/query.ts";
import { useForm } from "../../common/forms/useForm.ts";
import { siteOfScope, useOwnedScopes } from "./scopes.ts";
import { settingsText } from "../../messages/settings.ts";

type Scope = Answer<"GET /api-keys">["items"][number]["scopes"][number];

const scopeNames: readonly Scope[] = ["read", "write", "keys", "people"];

export function CreateApiKey({ onCreated }: { onCreated: (key: string) => void }) {
  return (
    <FormButton
      label={settingsText.apiKeys.createButton}
      title={settingsText.apiKeys.createTitle}
      leftSection={<Plus size={16} />}
    >
      {(close) => <Form onClose={close} onCreated={onCreated} />}
    </FormButton>
  );
}

function Form({ onClose, onCreated }: { onClose: () => void; onCreated: (key: string) => void }) {
  const sites = useOwnedScopes();
  const form = useForm({
    values: { name: "", scope: sites[0]?.value ?? "", scopes: ["read"] as Scope[], expiry: noExpiry },
    fields: { site: "scope", ...expiryFields },
    check: ({ scopes }): Record<string, string> => (scopes.length > 0 ? {} : { scopes: settingsText.apiKeys.chooseScope }),
    save: ({ name, scope, scopes, expiry }) =>
      send("POST /api-keys", { body: { name, site: siteOfScope(scope), scopes, expiresAt: expiryAt(expiry) } }),
    onDone: ({ key }) => {
      onClose();
      onCreated(key);
    },
  });
  return (
    <DialogForm form={form} submit={settingsText.create} onClose={onClose}>
      <TextInput
        {...form.text("name")}
        label={settingsText.apiKeys.columns.name}
        description={settingsText.apiKeys.aboutName}
        required
        data-autofocus
        maxLength={100}
        autoComplete="off"
      />
      <Select
        {...form.field("scope")}
        label={settingsText.apiKeys.scope}
        data={sites}
        searchable={sites.length > 8}
        allowDeselect={false}
      />
      <Checkbox.Group
        {...form.field("scopes")}
        label={settingsText.apiKeys.scopes}
        description={settingsText.apiKeys.aboutScopes}
      >
        <Stack gap="xs" mt={6}>
          {scopeNames.map((value) => (
            <Checkbox
              key={value}
              value={value}
              label={settingsText.apiKeys.scopeNames[value]}
              description={settingsText.apiKeys.scopeHelp[value]}
            />
          ))}
        </Stack>
      </Checkbox.Group>
      <ExpiryField {...form.field("expiry")} />
    </DialogForm>
  );
}
