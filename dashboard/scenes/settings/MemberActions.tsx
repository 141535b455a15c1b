// Roles, password reset and removal. The last two are for owners of the whole installation.

import { ActionIcon, Button, Group, Menu } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { Ellipsis, KeyRound, UserX } from "lucide-react";
import { useState } from "react";
import { useSend } from "../../common/api/query.ts";
import { useMay } from "../../common/api/session.ts";
import { ConfirmDialog, OneTimeLink } from "../../common/dialogs.tsx";
import { notify } from "../../common/notices.tsx";
import { MemberRoles } from "./MemberRoles.tsx";
import type { Member } from "./Members.tsx";

export function MemberActions({ member }: { member: Member }) {
  const isInstallationOwner = useMay("owner", null);
  const [ask, setAsk] = useState<"remove" | "reset" | null>(null);
  const [roles, rolesDialog] = useDisclosure();
  const [link, setLink] = useState<string | null>(null);
  const close = () => setAsk(null);
  const remove = useSend("DELETE /members/:member", {
    onDone: () => {
      close();
      notify(`${member.name} removed.`);
    },
  });
  const reset = useSend("POST /members/:member/password-reset", {
    onDone: (created) => {
      close();
      if (created.link) setLink(created.link);
      else notify(`Reset link sent to ${member.email}.`);
    },
  });
  const params = { member: member.id };
  return (
    <Group gap={4} justify="flex-end" wrap="nowrap">
      <Button
        size="compact-sm"
        variant="default"
        aria-label={`Change the roles of ${member.name}`}
        onClick={rolesDialog.open}
      >
        Roles
      </Button>
      {isInstallationOwner && (
        <Menu position="bottom-end" width={220}>
          <Menu.Target>
            <ActionIcon variant="subtle" color="gray" aria-label={`More for ${member.name}`}>
              <Ellipsis size={16} />
            </ActionIcon>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item leftSection={<KeyRound size={15} />} onClick={() => setAsk("reset")}>
              Password reset link
            </Menu.Item>
            <Menu.Item color="red" leftSection={<UserX size={15} />} onClick={() => setAsk("remove")}>
              Remove
            </Menu.Item>
          </Menu.Dropdown>
        </Menu>
      )}
      <MemberRoles member={member} isOpen={roles} onClose={rolesDialog.close} />
      <ConfirmDialog
        isOpen={ask === "remove"}
        onClose={close}
        question={member.isMe ? "Remove yourself?" : `Remove ${member.name}?`}
        consequence={`${member.isMe ? "You lose" : `${member.email} loses`} the account on this installation and all roles, and all sessions end immediately. The audit log is kept.`}
        confirm="Remove"
        isBusy={remove.isPending}
        error={remove.error}
        onConfirm={() => remove.mutate({ params })}
      />
      <ConfirmDialog
        isOpen={ask === "reset"}
        onClose={close}
        question={`Reset the password of ${member.name}?`}
        consequence="This creates a link that works once, for 24 hours. Using it ends all their sessions and turns two-factor sign-in off. Until then nothing changes."
        confirm="Create link"
        danger={false}
        isBusy={reset.isPending}
        error={reset.error}
        onConfirm={() => reset.mutate({ params })}
      />
      <OneTimeLink
        title={`Password reset link for ${member.name}`}
        link={link}
        about="Send it to them through a channel that you trust. Anyone who opens it can set the password."
        onClose={() => setLink(null)}
      />
    </Group>
  );
}
