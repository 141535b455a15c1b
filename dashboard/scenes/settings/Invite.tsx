import { Select, TextInput } from "@mantine/core";
import { DialogForm, FormButton } from "../../common/FormDialog.tsx";
import { UserPlus } from "lucide-react";
import { useState } from "react";
import { useSend } from "../../common/api/query.ts";
import { useSession, allRoles, type Role } from "../../common/api/session.ts";
import { commonText } from "../../messages/common.ts";
import { OneTimeLink } from "../../common/dialogs.tsx";
import { fieldError, otherError } from "../../common/fields.ts";
import { notify } from "../../common/notices.tsx";
import { siteOfScope, useOwnedScopes } from "./scopes.ts";
import { settingsText } from "../../messages/settings.ts";

export function Invite() {
  const [link, setLink] = useState<string | null>(null);
  return (
    <>
      <FormButton label={settingsText.invite.button} title={settingsText.invite.title} leftSection={<UserPlus size={16} />}>
        {(close) => (
          <Form
            onClose={close}
            onCreated={(created) => {
              close();
              setLink(created);
            }}
          />
        )}
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
  const [email, setEmail] = useState("");
  const [scope, setScope] = useState(scopes[0]?.value ?? "");
  const [role, setRole] = useState<Role>("viewer");
  const { mutate, error, isPending } = useSend("POST /members/invitations", {
    onDone: ({ link }) => {
      if (link === null) notify(settingsText.invite.sent(email));
      onCreated(link);
    },
  });
  return (
    <DialogForm
      submit={canMail ? settingsText.invite.send : settingsText.invite.createLink}
      onSubmit={() => mutate({ body: { email, site: siteOfScope(scope), role } })}
      onClose={onClose}
      isBusy={isPending}
      error={otherError(error, "email", "site", "role")}
    >
      <TextInput
        label={commonText.email}
        description={canMail ? settingsText.invite.byMail : settingsText.invite.noMail}
        type="email"
        required
        data-autofocus
        autoComplete="off"
        maxLength={320}
        value={email}
        error={fieldError(error, "email")}
        onChange={(event) => setEmail(event.currentTarget.value)}
      />
      <Select
        label={settingsText.invite.scope}
        data={scopes}
        allowDeselect={false}
        value={scope}
        error={fieldError(error, "site")}
        onChange={(value) => value !== null && setScope(value)}
      />
      <Select
        label={settingsText.members.role}
        description={commonText.roleSentences[role]}
        data={allRoles.map((value) => ({ value: value as string, label: commonText.roles[value] }))}
        allowDeselect={false}
        value={role}
        error={fieldError(error, "role")}
        onChange={(value) => value !== null && setRole(value as Role)}
      />
    </DialogForm>
  );
}
