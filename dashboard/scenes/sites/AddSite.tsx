import { TextInput } from "@mantine/core";
import { DialogForm, FormButton } from "../../common/FormDialog.tsx";
import { useNavigate } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { notify } from "../../common/notices.tsx";
import { send } from "../../common/api/query.ts";
import { useForm } from "../../common/forms/useForm.ts";
import { sitesText } from "../../messages/sites.ts";

export function AddSite() {
  return (
    <FormButton label={sitesText.add.title} leftSection={<Plus size={16} />}>
      {(close) => <Form onClose={close} />}
    </FormButton>
  );
}

function Form({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate();
  const form = useForm({
    values: { host: "" },
    save: ({ host }) => send("POST /sites", { body: { host } }),
    onDone: (site) => {
      notify(sitesText.add.added(site.name));
      onClose();
      void navigate({ to: `/sites/${site.id}/first-conversion` });
    },
  });
  return (
    <DialogForm form={form} submit={sitesText.add.submit} onClose={onClose}>
      <TextInput
        {...form.text("host")}
        label={sitesText.add.domain}
        description={sitesText.add.about}
        placeholder="shop.example.com"
        required
        data-autofocus
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
      />
    </DialogForm>
  );
}
