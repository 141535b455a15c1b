import { PasswordInput, TextInput } from "@mantine/core";
import { DialogForm, FormButton } from "../../common/FormDialog.tsx";
import { useState } from "react";
import { notify } from "../../common/notices.tsx";
import { fieldError, otherError } from "../../common/fields.ts";
import { useSend } from "../../common/api/query.ts";
import { settingsText } from "../../messages/settings.ts";
import { commonText } from "../../messages/common.ts";

type Props = { platform: string; name: string; clientId: string | null };

export function OAuthAppForm(props: Props) {
  const { name, clientId } = props;
  return (
    <FormButton
      size="compact-sm"
      variant="default"
      aria-label={clientId ? settingsText.oauthApps.changeFor(name) : settingsText.oauthApps.setFor(name)}
      label={clientId ? settingsText.oauthApps.change : settingsText.oauthApps.set}
      title={settingsText.oauthApps.titleFor(name)}
    >
      {(close) => <Form {...props} onClose={close} />}
    </FormButton>
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
    <DialogForm
      submit={commonText.save}
      onSubmit={() => mutate({ params: { platform }, body: { clientId: id, clientSecret: secret } })}
      onClose={onClose}
      isBusy={isPending}
      error={otherError(error, "clientId", "clientSecret")}
    >
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
    </DialogForm>
  );
}
