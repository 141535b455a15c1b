import { Button, Group, Modal, Radio, Select, Stack, TextInput } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { Plus } from "lucide-react";
import { useState } from "react";
import { ExpiryField, expiryAt, noExpiry } from "../../common/ExpiryField.tsx";
import { fieldError, otherError } from "../../common/fields.ts";
import { useSend } from "../../common/api/query.ts";
import { RequestError } from "../../common/states.tsx";
import { placeOf, useOwnedPlaces } from "./scopes.ts";

export function CreateApiKey({ onMade }: { onMade: (key: string) => void }) {
  const [isOpen, { open, close }] = useDisclosure();
  return (
    <>
      <Button leftSection={<Plus size={16} />} onClick={open}>
        Create API key
      </Button>
      <Modal opened={isOpen} onClose={close} title="Create an API key">
        <Form
          onClose={close}
          onMade={(key) => {
            close();
            onMade(key);
          }}
        />
      </Modal>
    </>
  );
}

function Form({ onClose, onMade }: { onClose: () => void; onMade: (key: string) => void }) {
  const places = useOwnedPlaces();
  const [name, setName] = useState("");
  const [place, setPlace] = useState(places[0]?.value ?? "");
  const [access, setAccess] = useState<"read" | "change">("read");
  const [expiry, setExpiry] = useState(noExpiry);
  const { mutate, error, isPending } = useSend("POST /api-keys", { onDone: ({ key }) => onMade(key) });
  const expiresAt = expiryAt(expiry);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (expiresAt !== undefined) mutate({ body: { name, site: placeOf(place), access, expiresAt } });
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
          data={places}
          searchable={places.length > 8}
          allowDeselect={false}
          value={place}
          error={fieldError(error, "site")}
          onChange={(value) => value !== null && setPlace(value)}
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
