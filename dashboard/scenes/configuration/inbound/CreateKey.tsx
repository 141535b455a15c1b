import { Button, Group, Input, Modal, SegmentedControl, Stack, Text, TextInput } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { Plus } from "lucide-react";
import { useState } from "react";
import { ExpiryField, expiryAt, noExpiry } from "../../../common/ExpiryField.tsx";
import type { Answer } from "../../../common/api/api.ts";
import { useSend } from "../../../common/api/query.ts";
import { useSiteId } from "../../../common/api/session.ts";
import { fieldError, otherError } from "../../../common/fields.ts";
import { RequestError } from "../../../common/states.tsx";

export function CreateKey({ onCreated }: { onCreated: (created: Answer<"POST /sites/:site/keys">) => void }) {
  const [isOpen, { open, close }] = useDisclosure();
  return (
    <>
      <Button leftSection={<Plus size={16} />} onClick={open}>
        Create key
      </Button>
      <Modal opened={isOpen} onClose={close} title="Create an inbound key">
        <Form
          onClose={close}
          onCreated={(created) => {
            close();
            onCreated(created);
          }}
        />
      </Modal>
    </>
  );
}

function Form({
  onClose,
  onCreated,
}: {
  onClose: () => void;
  onCreated: (created: Answer<"POST /sites/:site/keys">) => void;
}) {
  const site = useSiteId();
  const [name, setName] = useState("");
  const [mode, setMode] = useState<"live" | "test">("live");
  const [expiry, setExpiry] = useState(noExpiry);
  const { mutate, error, isPending } = useSend("POST /sites/:site/keys", { onDone: onCreated });
  const expiresAt = expiryAt(expiry);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (expiresAt !== undefined) mutate({ params: { site }, body: { name, mode, expiresAt } });
      }}
    >
      <Stack>
        <TextInput
          label="Name"
          description="The integration that will use it, such as Shop or CRM."
          required
          data-autofocus
          maxLength={100}
          autoComplete="off"
          value={name}
          error={fieldError(error, "name")}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <Input.Wrapper
          label="Kind"
          labelElement="div"
          description={
            mode === "live"
              ? "Events are counted and sent to platforms."
              : "Events are sent in each platform's test mode and never counted."
          }
        >
          <SegmentedControl
            fullWidth
            mt={6}
            aria-label="Kind"
            value={mode}
            onChange={(value) => setMode(value)}
            data={[
              { value: "live", label: "Live" },
              { value: "test", label: "Test" },
            ]}
          />
        </Input.Wrapper>
        <ExpiryField value={expiry} onChange={setExpiry} fault={fieldError(error, "expires", "expiresAt")} />
        {expiry.span !== "never" && (
          <Text size="sm" c="dimmed">
            After that, its sender gets 401. Rotate the key in time.
          </Text>
        )}
        <RequestError error={otherError(error, "name", "expires", "expiresAt")} />
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
