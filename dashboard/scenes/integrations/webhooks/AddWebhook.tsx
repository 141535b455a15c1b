// Adds a webhook and shows its secret once.

import { Switch, TextInput } from "@mantine/core";
import { DialogForm, FormModal } from "../../../common/FormDialog.tsx";
import { send } from "../../../common/api/query.ts";
import { useForm } from "../../../common/forms/useForm.ts";
import { webhooksText } from "../../../messages/webhooks.ts";

type Props = { site: string; onClose: () => void; onAdded: (secret: string) => void };

export function AddWebhook({ isOpen, ...rest }: Props & { isOpen: boolean }) {
  return (
    <FormModal opened={isOpen} onClose={rest.onClose} title={webhooksText.form.title}>
      <Form {...rest} />
    </FormModal>
  );
}

function Form({ site, onClose, onAdded }: Props) {
  const form = useForm({
    values: { url: "", sendEmpty: true },
    save: ({ url, sendEmpty }) => send("POST /sites/:site/webhooks", { params: { site }, body: { url: url.trim(), sendEmpty } }),
    onDone: ({ secret }) => onAdded(secret),
  });
  return (
    <DialogForm form={form} submit={webhooksText.add} onClose={onClose}>
      <TextInput
        {...form.text("url")}
        label={webhooksText.columns.url}
        description={webhooksText.form.aboutUrl}
        placeholder="https://example.com/cleancast"
        inputMode="url"
        required
        data-autofocus
        autoComplete="off"
      />
      <Switch
        label={webhooksText.form.sendEmpty}
        description={webhooksText.form.aboutSendEmpty}
        checked={form.values.sendEmpty}
        onChange={({ currentTarget }) => form.set("sendEmpty", currentTarget.checked)}
      />
    </DialogForm>
  );
}
