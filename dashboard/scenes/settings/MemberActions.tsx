// Roles, password reset and removal. The last two are for owners of the whole installation.

import { ActionIcon, Button, Group, Menu, Modal, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { Ellipsis, KeyRound, UserX } from "lucide-react";
import { useState } from "react";
import { useSend } from "../../common/api/query.ts";
import { useMay } from "../../common/api/session.ts";
import { OneTimeLink } from "../../common/dialogs.tsx";
import { notify } from "../../common/notices.tsx";
import { RequestError } from "../../common/states.tsx";
import { MemberRoles } from "./MemberRoles.tsx";
import type { Member } from "./Members.tsx";

export function MemberActions({ member }: { member: Member }) {
  const isInstallationOwner = useMay("owner", null);
  const [ask, setAsk] = useState<"remove" | "reset" | null>(null);
  const [roles, rolesWindow] = useDisclosure();
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
        onClick={rolesWindow.open}
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
      <MemberRoles member={member} isOpen={roles} onClose={rolesWindow.close} />
      <Question
        isOpen={ask === "remove"}
        onClose={close}
        title={member.isMe ? "Remove yourself?" : `Remove ${member.name}?`}
        text={`${member.isMe ? "You lose" : `${member.email} loses`} the account on this installation and all roles, and all sessions end immediately. The audit log is kept.`}
        confirm="Remove"
        isDanger
        send={remove}
        onConfirm={() => remove.mutate({ params })}
      />
      <Question
        isOpen={ask === "reset"}
        onClose={close}
        title={`Reset the password of ${member.name}?`}
        text="This creates a link that works once, for 24 hours. Using it ends all their sessions and turns two-factor sign-in off. Until then nothing changes."
        confirm="Create link"
        send={reset}
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

/** A confirmation that a menu opens; elsewhere ConfirmButton is used. */
function Question({
  isOpen,
  onClose,
  title,
  text,
  confirm,
  isDanger = false,
  send,
  onConfirm,
}: {
  isOpen: boolean;
  onClose: () => void;
  title: string;
  text: string;
  confirm: string;
  isDanger?: boolean;
  send: { isPending: boolean; error: Parameters<typeof RequestError>[0]["error"] };
  onConfirm: () => void;
}) {
  return (
    <Modal opened={isOpen} onClose={onClose} title={title}>
      <Text size="sm" mb="md">
        {text}
      </Text>
      <RequestError error={send.error} />
      <Group justify="flex-end" gap="xs" mt="md">
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
        <Button {...(isDanger ? { color: "red" } : {})} loading={send.isPending} onClick={onConfirm}>
          {confirm}
        </Button>
      </Group>
    </Modal>
  );
}
