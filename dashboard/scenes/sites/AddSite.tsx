import { TextInput } from "@mantine/core";
import { DialogForm, FormButton } from "../../common/FormDialog.tsx";
import { useNavigate } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { useState } from "react";
import { notify } from "../../common/notices.tsx";
import { useSend } from "../../common/api/query.ts";
import { sitesText } from "../../messages/sites.ts";
import { commonText } from "../../messages/common.ts";

export function AddSite() {
  return (
    <FormButton label={sitesText.add.title} leftSection={<Plus size={16} />}>
      {(close) => <Form onClose={close} />}
    </FormButton>
  );
}

function Form({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate();
  const [host, setHost] = useState("");
  const add = useSend("POST /sites", {
    onDone: (site) => {
      notify(sitesText.add.added(site.name));
      onClose();
      void navigate({ to: `/sites/${site.id}/overview` });
    },
  });
  const isAboutHost = add.error?.field === "host";
  return (
    <DialogForm
      submit={sitesText.add.submit}
      onSubmit={() => add.mutate({ body: { host: host.trim() } })}
      onClose={onClose}
      isBusy={add.isPending}
      error={isAboutHost ? null : add.error}
    >
      <TextInput
        label={sitesText.add.domain}
        description={sitesText.add.about}
        placeholder="shop.example.com"
        value={host}
        onChange={({ currentTarget }) => setHost(currentTarget.value)}
        error={isAboutHost ? add.error?.message : undefined}
        required
        data-autofocus
        autoComplete="off"
        autoCapitalize={commonText.none}
        spellCheck={false}
      />
    </DialogForm>
  );
}
