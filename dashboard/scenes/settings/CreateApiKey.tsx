import { Button, Checkbox, Group, Modal, Select, Stack, TextInput } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { Plus } from "lucide-react";
import { useState } from "react";
import { ExpiryField, expiryAt, noExpiry } from "../../common/ExpiryField.tsx";
import type { Answer } from "../../common/api/api.ts";
import { useSend } from "../../common/api/query.ts";
import { fieldError, otherError } from "../../common/fields.ts";
import { RequestError } from "../../common/states.tsx";
import { siteOfScope, useOwnedScopes } from "./scopes.ts";

type Scope = Answer<"GET /api-keys">["items"][number]["scopes"][number];

const scopeTexts: Record<Scope, { label: string; description: string }> = {
  read: { label: "Read", description: "Everything that a viewer can see." },
  write: {
    label: "Write",
    description: "Change settings, connections and webhooks, and send deliveries again.",
  },
  keys: {
    label: "Inbound keys",
    description: "Create, rotate and revoke inbound keys. Keys that it created can be revoked with it.",
  },
  people: {
    label: "People",
    description: "Find, export and erase the data of people, and record their consent.",
  },
};

export function CreateApiKey({ onCreated }: { onCreated: (key: string) => void }) {
  const [isOpen, { open, close }] = useDisclosure();
  return (
    <>
      <Button leftSection={<Plus size={16} />} onClick={open}>
        Create API key
      </Button>
      <Modal opened={isOpen} onClose={close} title="Create an API key">
        <Form
          onClose={close}
          onCreated={(key) => {
            close();
            onCreated(key);
          }}
        />
      </Modal>
    </>
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
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (expiresAt !== undefined)
          mutate({ body: { name, site: siteOfScope(scope), scopes: granted, expiresAt } });
      }}
    >
      <Stack>
        <TextInput
          label="Name"
          description="The program that will use it."
          required
          data-autofocus
          maxLength={100}
          autoComplete="off"
          value={name}
          error={fieldError(error, "name")}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <Select
          label="For"
          data={scopes}
          searchable={scopes.length > 8}
          allowDeselect={false}
          value={scope}
          error={fieldError(error, "site")}
          onChange={(value) => value !== null && setScope(value)}
        />
        <Checkbox.Group
          label="Scopes"
          description="What the program can do. It can never manage members or API keys."
          value={granted}
          onChange={(values) => setGranted(values)}
          error={granted.length === 0 ? "Choose at least one scope." : fieldError(error, "scopes")}
        >
          <Stack gap="xs" mt={6}>
            {Object.entries(scopeTexts).map(([value, texts]) => (
              <Checkbox key={value} value={value} {...texts} />
            ))}
          </Stack>
        </Checkbox.Group>
        <ExpiryField value={expiry} onChange={setExpiry} fault={fieldError(error, "expires", "expiresAt")} />
        <RequestError error={otherError(error, "name", "site", "scopes", "expires", "expiresAt")} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={isPending} disabled={granted.length === 0}>
            Create
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
