import { Button, Group, Modal, Radio, Select, Stack, TextInput } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { Plus } from "lucide-react";
import { useState } from "react";
import { ExpiryField, expiryAt, noExpiry } from "../../common/ExpiryField.tsx";
import { useSend } from "../../common/api/query.ts";
import { fieldError, otherError } from "../../common/fields.ts";
import { RequestError } from "../../common/states.tsx";
import { siteOfScope, useOwnedScopes } from "./scopes.ts";

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
  const [access, setAccess] = useState<"read" | "change">("read");
  const [expiry, setExpiry] = useState(noExpiry);
  const { mutate, error, isPending } = useSend("POST /api-keys", { onDone: ({ key }) => onCreated(key) });
  const expiresAt = expiryAt(expiry);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (expiresAt !== undefined) mutate({ body: { name, site: siteOfScope(scope), access, expiresAt } });
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
        <Radio.Group
          label="Access"
          value={access}
          onChange={(value) => setAccess(value)}
          error={fieldError(error, "access")}
        >
          <Stack gap="xs" mt={6}>
            <Radio value="read" label="Read" description="Everything that a viewer can see." />
            <Radio
              value="change"
              label="Read and change"
              description="Everything that an admin can do, except members and API keys."
            />
          </Stack>
        </Radio.Group>
        <ExpiryField value={expiry} onChange={setExpiry} fault={fieldError(error, "expires", "expiresAt")} />
        <RequestError error={otherError(error, "name", "site", "access", "expires", "expiresAt")} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={isPending}>
            Create
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
