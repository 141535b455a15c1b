// Roles, password reset and removal. The last two are for owners of the whole installation.

import { ActionIcon, Button, Group, Menu } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { Ellipsis, KeyRound, UserX } from "lucide-react";
import { useRef, useState } from "react";
import { useSend } from "../../common/api/query.ts";
import { useMay } from "../../common/api/session.ts";
import { ConfirmDialog, OneTimeLink } from "../../common/dialogs.tsx";
import { notify } from "../../common/notices.tsx";
import { MemberRoles } from "./MemberRoles.tsx";
import type { Member } from "./Members.tsx";
import { settingsText } from "../../messages/settings.ts";

export function MemberActions({ member }: { member: Member }) {
  const isInstallationOwner = useMay("owner", null);
  const [ask, setAsk] = useState<"remove" | "reset" | null>(null);
  const [roles, rolesDialog] = useDisclosure();
  const [link, setLink] = useState<string | null>(null);
  const menu = useRef<HTMLButtonElement>(null);
  const askFor = (what: "reset" | "remove") => {
    // The dialog gives the focus back to the button: the item of the menu is gone by then.
    menu.current?.focus();
    setAsk(what);
  };
  const close = () => setAsk(null);
  const remove = useSend("DELETE /members/:member", {
    onDone: () => {
      close();
      notify(settingsText.member.removed(member.name));
    },
  });
  const reset = useSend("POST /members/:member/password-reset", {
    onDone: (created) => {
      close();
      if (created.link) setLink(created.link);
      else notify(settingsText.member.resetSent(member.email));
    },
  });
  const params = { member: member.id };
  return (
    <Group gap={4} justify="flex-end" wrap="nowrap">
      <Button
        size="compact-sm"
        variant="default"
        aria-label={settingsText.member.changeRoles(member.name)}
        onClick={rolesDialog.open}
      >
        {settingsText.members.roles}
      </Button>
      {isInstallationOwner && (
        <Menu position="bottom-end" width={220}>
          <Menu.Target>
            <ActionIcon ref={menu} variant="subtle" color="gray" aria-label={settingsText.member.more(member.name)}>
              <Ellipsis size={16} />
            </ActionIcon>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item leftSection={<KeyRound size={15} />} onClick={() => askFor("reset")}>
              {settingsText.member.resetLink}
            </Menu.Item>
            <Menu.Item color="var(--cc-bad)" leftSection={<UserX size={15} />} onClick={() => askFor("remove")}>
              {settingsText.remove}
            </Menu.Item>
          </Menu.Dropdown>
        </Menu>
      )}
      <MemberRoles member={member} isOpen={roles} onClose={rolesDialog.close} />
      <ConfirmDialog
        isOpen={ask === "remove"}
        onClose={close}
        question={member.isMe ? settingsText.member.removeYourself : settingsText.member.removeQuestion(member.name)}
        consequence={
          member.isMe ? settingsText.member.removeYourselfConsequence : settingsText.member.removeConsequence(member.email)
        }
        confirm={settingsText.remove}
        of={remove}
        onConfirm={() => remove.mutate({ params })}
      />
      <ConfirmDialog
        isOpen={ask === "reset"}
        onClose={close}
        question={settingsText.member.resetQuestion(member.name)}
        consequence={settingsText.member.resetConsequence}
        confirm={settingsText.member.createLink}
        danger={false}
        of={reset}
        onConfirm={() => reset.mutate({ params })}
      />
      <OneTimeLink
        title={settingsText.member.resetTitle(member.name)}
        link={link}
        about={settingsText.member.aboutReset}
        onClose={() => setLink(null)}
      />
    </Group>
  );
}
