import { Select, TextInput } from "@mantine/core";
import { DialogForm, FormButton } from "../../common/FormDialog.tsx";
import { UserPlus } from "lucide-react";
import { useState } from "react";
import { send } from "../../common/api/query.ts";
import { useSession, allRoles, type Role } from "../../common/api/session.ts";
import { commonText } from "../../messages/common.ts";
import { OneTimeLink } from "../../common/dialogs.tsx";
import { useForm } from "../../common/forms/useForm.ts";
import { notify } from "../../common/notices.tsx";
import { siteOfScope, useOwnedScopes } from "./scopes.ts";
import { settingsText } from "../../messages/settings.ts";

export function Invite() {
  const [link, setLink] = useState<string | null>(null);
  return (
    <>
      <FormButton label={settingsText.invite.button} title={settingsText.invite.title} leftSection={<UserPlus size={16} />}>
        {(close) => <Form onClose={close} onCreated={setLink} />}
      </FormButton>
      <OneTimeLink
        title={settingsText.invite.link}
        link={link}
        about={settingsText.invite.aboutLink}
        onClose={() => setLink(null)}
      />
    </>
  );
}

function Form({ onClose, onCreated }: { onClose: () => void; onCreated: (link: string | null) => void }) {
  const scopes = useOwnedScopes();
  const canMail = useSession().data?.installation.mail ?? false;
  const values: { email: string; scope: string; role: Role } = { email: "", scope: scopes[0]?.value ?? "", role: "viewer" };
  const form = useForm({
    values,
    fields: { site: "scope" },
    save: ({ email, scope, role }) => send("POST /members/invitations", { body: { email, site: siteOfScope(scope), role } }),
    onDone: ({ link }, { email }) => {
      if (link === null) notify(settingsText.invite.sent(email));
      onClose();
      onCreated(link);
    },
  });
  return (
    <DialogForm form={form} submit={canMail ? settingsText.invite.send : settingsText.invite.createLink} onClose={onClose}>
      <TextInput
        {...form.text("email")}
        label={commonText.email}
        description={canMail ? settingsText.invite.byMail : settingsText.invite.noMail}
        type="email"
        required
        data-autofocus
        autoComplete="off"
        maxLength={320}
      />
      <Select {...form.field("scope")} label={settingsText.invite.scope} data={scopes} allowDeselect={false} />
      <Select
        {...form.field("role")}
        label={settingsText.members.role}
        description={commonText.roleSentences[form.values.role]}
        data={allRoles.map((value) => ({ value, label: commonText.roles[value] }))}
        allowDeselect={false}
      />
    </DialogForm>
  );
}
