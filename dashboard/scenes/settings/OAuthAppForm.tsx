import { PasswordInput, TextInput } from "@mantine/core";
import { DialogForm, FormButton } from "../../common/FormDialog.tsx";
import { notify } from "../../common/notices.tsx";
import { useForm } from "../../common/forms/useForm.ts";
import { send } from "../../common/api/query.ts";
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
  const form = useForm({
    values: { clientId: clientId ?? "", clientSecret: "" },
    save: (body) => send("PUT /oauth-apps/:platform", { params: { platform }, body }),
    onDone: () => {
      onClose();
      notify(settingsText.oauthApps.saved(name));
    },
  });
  return (
    <DialogForm form={form} submit={commonText.save} onClose={onClose}>
      <TextInput
        {...form.text("clientId")}
        label={settingsText.oauthApps.columns.clientId}
        required
        data-autofocus
        autoComplete="off"
        spellCheck={false}
        maxLength={500}
      />
      <PasswordInput
        {...form.text("clientSecret")}
        label={settingsText.oauthApps.secret}
        description={clientId ? settingsText.oauthApps.aboutSavedSecret : settingsText.oauthApps.aboutSecret}
        placeholder={clientId ? settingsText.oauthApps.configured : ""}
        required
        autoComplete="off"
        maxLength={2000}
        visibilityToggleButtonProps={{ "aria-label": settingsText.oauthApps.showSecret }}
      />
    </DialogForm>
  );
}
