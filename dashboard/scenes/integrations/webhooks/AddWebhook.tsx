// Adds a webhook and shows its secret once.

import { Button, Group, Modal, Stack, Switch, TextInput } from "@mantine/core";
import { useState } from "react";
import { fieldError, otherError } from "../../../common/fields.ts";
import { useSend } from "../../../common/api/query.ts";
import { RequestError } from "../../../common/states.tsx";
import { webhooksText } from "../../../messages/webhooks.ts";
import { commonText } from "../../../messages/common.ts";

type Props = { site: string; onClose: () => void; onAdded: (secret: string) => void };

export function AddWebhook({ isOpen, ...rest }: Props & { isOpen: boolean }) {
  return (
    <Modal opened={isOpen} onClose={rest.onClose} title={webhooksText.form.title}>
      <Form {...rest} />
    </Modal>
  );
}

function Form({ site, onClose, onAdded }: Props) {
  const [url, setUrl] = useState("");
  const [sendEmpty, setSendEmpty] = useState(true);
  const add = useSend("POST /sites/:site/webhooks", { onDone: ({ secret }) => onAdded(secret) });
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        add.mutate({ params: { site }, body: { url: url.trim(), sendEmpty } });
      }}
    >
      <Stack>
        <TextInput
          label={webhooksText.columns.url}
          description={webhooksText.form.aboutUrl}
          placeholder="https://example.com/cleancast"
          inputMode="url"
          value={url}
          onChange={({ currentTarget }) => setUrl(currentTarget.value)}
          error={fieldError(add.error, "url")}
          withAsterisk
          data-autofocus
          autoComplete="off"
        />
        <Switch
          label={webhooksText.form.sendEmpty}
          description={webhooksText.form.aboutSendEmpty}
          checked={sendEmpty}
          onChange={({ currentTarget }) => setSendEmpty(currentTarget.checked)}
        />
        <RequestError error={otherError(add.error, "url")} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            {commonText.cancel}
          </Button>
          <Button type="submit" loading={add.isPending}>
            {webhooksText.add}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
