import { Button, Group, Modal, Select, Stack, TextInput } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { UserPlus } from "lucide-react";
import { useState } from "react";
import { useSend } from "../../common/api/query.ts";
import { useSession, allRoles, roleNames, roleSentences, type Role } from "../../common/api/session.ts";
import { OneTimeLink } from "../../common/dialogs.tsx";
import { fieldError, otherError } from "../../common/fields.ts";
import { notify } from "../../common/notices.tsx";
import { RequestError } from "../../common/states.tsx";
import { siteOfScope, useOwnedScopes } from "./scopes.ts";

export function Invite() {
  const [isOpen, { open, close }] = useDisclosure();
  const [link, setLink] = useState<string | null>(null);
  return (
    <>
      <Button leftSection={<UserPlus size={16} />} onClick={open}>
        Invite
      </Button>
      <Modal opened={isOpen} onClose={close} title="Invite a member">
        <Form
          onClose={close}
          onCreated={(created) => {
            close();
            setLink(created);
          }}
        />
      </Modal>
      <OneTimeLink
        title="Invitation link"
        link={link}
        about="Send it to the person you invited. It works once, for seven days."
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
      if (link === null) notify(`Invitation sent to ${email}.`);
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
          label="Email"
          description={
            canMail
              ? "The invitation is sent to this address. It is valid for seven days."
              : "Email is not configured: you get a link to pass on."
          }
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
          label="To"
          data={scopes}
          allowDeselect={false}
          value={scope}
          error={fieldError(error, "site")}
          onChange={(value) => value !== null && setScope(value)}
        />
        <Select
          label="Role"
          description={roleSentences[role]}
          data={allRoles.map((value) => ({ value: value as string, label: roleNames[value] }))}
          allowDeselect={false}
          value={role}
          error={fieldError(error, "role")}
          onChange={(value) => value !== null && setRole(value as Role)}
        />
        <RequestError error={otherError(error, "email", "site", "role")} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={isPending}>
            {canMail ? "Send invitation" : "Create invitation link"}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
