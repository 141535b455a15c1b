import { Button, Group, Modal, Select, Stack, TextInput } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { UserPlus } from "lucide-react";
import { useState } from "react";
import { useSend } from "../../common/api/query.ts";
import { useSession, allRoles, type Role } from "../../common/api/session.ts";
import { commonText } from "../../messages/common.ts";
import { OneTimeLink } from "../../common/dialogs.tsx";
import { fieldError, otherError } from "../../common/fields.ts";
import { notify } from "../../common/notices.tsx";
import { RequestError } from "../../common/states.tsx";
import { siteOfScope, useOwnedScopes } from "./scopes.ts";
import { settingsText } from "../../messages/settings.ts";

export function Invite() {
  const [isOpen, { open, close }] = useDisclosure();
  const [link, setLink] = useState<string | null>(null);
  return (
    <>
      <Button leftSection={<UserPlus size={16} />} onClick={open}>
        {settingsText.invite.button}
      </Button>
      <Modal opened={isOpen} onClose={close} title={settingsText.invite.title}>
        <Form
          onClose={close}
          onCreated={(created) => {
            close();
            setLink(created);
          }}
        />
      </Modal>
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
    <form
      onSubmit={(event) => {
        event.preventDefault();
        mutate({ body: { email, site: siteOfScope(scope), role } });
      }}
    >
      <Stack>
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
        <RequestError error={otherError(error, "email", "site", "role")} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            {commonText.cancel}
          </Button>
          <Button type="submit" loading={isPending}>
            {canMail ? settingsText.invite.send : settingsText.invite.createLink}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
