import { Button, Group, Modal, PasswordInput, Stack, TextInput } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useState } from "react";
import { notify } from "../../common/notices.tsx";
import { fieldError, otherError } from "../../common/fields.ts";
import { useSend } from "../../common/api/query.ts";
import { RequestError } from "../../common/states.tsx";

type Props = { platform: string; name: string; clientId: string | null };

export function OAuthAppForm(props: Props) {
  const [isOpen, { open, close }] = useDisclosure();
  const { name, clientId } = props;
  return (
    <>
      <Button
        size="compact-sm"
        variant="default"
        aria-label={`${clientId ? "Change" : "Set"} the OAuth app for ${name}`}
        onClick={open}
      >
        {clientId ? "Change" : "Set"}
      </Button>
      <Modal opened={isOpen} onClose={close} title={`OAuth app for ${name}`}>
        <Form {...props} onClose={close} />
      </Modal>
    </>
  );
}

function Form({ platform, name, clientId, onClose }: Props & { onClose: () => void }) {
  const [id, setId] = useState(clientId ?? "");
  const [secret, setSecret] = useState("");
  const { mutate, error, isPending } = useSend("PUT /oauth-apps/:platform", {
    onDone: () => {
      onClose();
      notify(`OAuth app for ${name} saved.`);
    },
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        mutate({ params: { platform }, body: { clientId: id, clientSecret: secret } });
      }}
    >
      <Stack>
        <TextInput
          label="Client id"
          required
          data-autofocus
          autoComplete="off"
          spellCheck={false}
          maxLength={500}
          value={id}
          error={fieldError(error, "clientId")}
          onChange={(event) => setId(event.currentTarget.value)}
        />
        <PasswordInput
          label="Client secret"
          description={
            clientId ? "Never shown. Enter it again to change the app." : "Stored encrypted and never shown."
          }
          placeholder={clientId ? "configured" : ""}
          required
          autoComplete="off"
          maxLength={2000}
          value={secret}
          error={fieldError(error, "clientSecret")}
          onChange={(event) => setSecret(event.currentTarget.value)}
          visibilityToggleButtonProps={{ "aria-label": "Show or hide the secret" }}
        />
        <RequestError error={otherError(error, "clientId", "clientSecret")} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={isPending}>
            Save
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
