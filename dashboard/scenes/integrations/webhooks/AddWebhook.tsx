// Adds a webhook and shows its secret once.

import { Modal, Switch, TextInput } from "@mantine/core";
import { DialogForm } from "../../../common/FormDialog.tsx";
import { useState } from "react";
import { fieldError, otherError } from "../../../common/fields.ts";
import { useSend } from "../../../common/api/query.ts";
import { webhooksText } from "../../../messages/webhooks.ts";

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
    <DialogForm
      submit={webhooksText.add}
      onSubmit={() => add.mutate({ params: { site }, body: { url: url.trim(), sendEmpty } })}
      onClose={onClose}
      isBusy={add.isPending}
      error={otherError(add.error, "url")}
      noValidate
    >
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
    </DialogForm>
  );
}
