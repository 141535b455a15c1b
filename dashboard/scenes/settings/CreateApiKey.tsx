import { Checkbox, Select, Stack, TextInput } from "@mantine/core";
import { DialogForm, FormButton } from "../../common/FormDialog.tsx";
import { Plus } from "lucide-react";
import { useState } from "react";
import { ExpiryField, expiryAt, noExpiry } from "../../common/ExpiryField.tsx";
import type { Answer } from "../../common/api/api.ts";
import { useSend } from "../../common/api/query.ts";
import { fieldError, otherError } from "../../common/fields.ts";
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
      {(close) => (
        <Form
          onClose={close}
          onCreated={(key) => {
            close();
            onCreated(key);
          }}
        />
      )}
    </FormButton>
  );
}

function Form({ onClose, onCreated }: { onClose: () => void; onCreated: (key: string) => void }) {
  const scopes = useOwnedScopes();
  const [name, setName] = useState("");
  const [scope, setScope] = useState(scopes[0]?.value ?? "");
  const [granted, setGranted] = useState<Scope[]>(["read"]);
  const [expiry, setExpiry] = useState(noExpiry);
  const { mutate, error, isPending } = useSend("POST /api-keys", { onDone: ({ key }) => onCreated(key) });
  const expiresAt = expiryAt(expiry);
  return (
    <DialogForm
      submit={settingsText.create}
      onSubmit={() => {
        if (expiresAt !== undefined) mutate({ body: { name, site: siteOfScope(scope), scopes: granted, expiresAt } });
      }}
      onClose={onClose}
      isBusy={isPending}
      error={otherError(error, "name", "site", "scopes", "expires", "expiresAt")}

      disabled={granted.length === 0}
    >
      <TextInput
        label={settingsText.apiKeys.columns.name}
        description={settingsText.apiKeys.aboutName}
        required
        data-autofocus
        maxLength={100}
        autoComplete="off"
        value={name}
        error={fieldError(error, "name")}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <Select
        label={settingsText.apiKeys.scope}
        data={scopes}
        searchable={scopes.length > 8}
        allowDeselect={false}
        value={scope}
        error={fieldError(error, "site")}
        onChange={(value) => value !== null && setScope(value)}
      />
      <Checkbox.Group
        label={settingsText.apiKeys.scopes}
        description={settingsText.apiKeys.aboutScopes}
        value={granted}
        onChange={(values) => setGranted(values)}
        error={granted.length === 0 ? settingsText.apiKeys.chooseScope : fieldError(error, "scopes")}
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
      <ExpiryField value={expiry} onChange={setExpiry} fault={fieldError(error, "expires", "expiresAt")} />
    </DialogForm>
  );
}
