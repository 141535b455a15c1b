import { Button, Group, Modal, PasswordInput, Stack, TextInput } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useState } from "react";
import { notify } from "../../common/notices.tsx";
import { fieldError, otherError } from "../../common/fields.ts";
import { useSend } from "../../common/api/query.ts";
import { RequestError } from "../../common/states.tsx";
import { settingsText } from "../../messages/settings.ts";
import { commonText } from "../../messages/common.ts";

type Props = { platform: string; name: string; clientId: string | null };

export function OAuthAppForm(props: Props) {
  const [isOpen, { open, close }] = useDisclosure();
  const { name, clientId } = props;
  return (
    <>
      <Button
        size="compact-sm"
        variant="default"
        aria-label={clientId ? settingsText.oauthApps.changeFor(name) : settingsText.oauthApps.setFor(name)}
        onClick={open}
      >
        {clientId ? settingsText.oauthApps.change : settingsText.oauthApps.set}
      </Button>
      <Modal opened={isOpen} onClose={close} title={settingsText.oauthApps.titleFor(name)}>
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
      notify(settingsText.oauthApps.saved(name));
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
          label={settingsText.oauthApps.columns.clientId}
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
          label={settingsText.oauthApps.secret}
          description={clientId ? settingsText.oauthApps.aboutSavedSecret : settingsText.oauthApps.aboutSecret}
          placeholder={clientId ? settingsText.oauthApps.configured : ""}
          required
          autoComplete="off"
          maxLength={2000}
          value={secret}
          error={fieldError(error, "clientSecret")}
          onChange={(event) => setSecret(event.currentTarget.value)}
          visibilityToggleButtonProps={{ "aria-label": settingsText.oauthApps.showSecret }}
        />
        <RequestError error={otherError(error, "clientId", "clientSecret")} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            {commonText.cancel}
          </Button>
          <Button type="submit" loading={isPending}>
            {commonText.save}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
