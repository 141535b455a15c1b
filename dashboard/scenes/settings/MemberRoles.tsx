// The roles of one member, site by site. Each change is saved immediately.

import { Alert, Button, Group, Modal, Select, Stack, Text } from "@mantine/core";
import { Form } from "../../common/Form.tsx";
import { TriangleAlert } from "lucide-react";
import { useState } from "react";
import { useSend } from "../../common/api/query.ts";
import { roleOn, useSession, allRoles, type Role } from "../../common/api/session.ts";
import { commonText } from "../../messages/common.ts";
import { notify } from "../../common/notices.tsx";
import { RequestError } from "../../common/states.tsx";
import type { Member } from "./Members.tsx";
import { allSites, siteOfScope, useOwnedScopes, useScopeName } from "./scopes.ts";
import { settingsText } from "../../messages/settings.ts";

const roleChoices = () => allRoles.map((role) => ({ value: role as string, label: commonText.roles[role] }));

export function MemberRoles({ member, isOpen, onClose }: { member: Member; isOpen: boolean; onClose: () => void }) {
  const scopeName = useScopeName();
  const inText = (site: string | null) => (site === null ? settingsText.allSitesInText : scopeName(site));
  const mine = useSession().data?.grants ?? [];
  const { mutate, error, isPending } = useSend("PUT /members/:member/grants", {
    onDone: (_, { body }) =>
      notify(
        body.role === null
          ? settingsText.member.roleRemoved(member.name, inText(body.site))
          : settingsText.member.roleChanged(member.name, commonText.roles[body.role], inText(body.site)),
      ),
  });
  const assign = (site: string | null, role: Role | null) => mutate({ params: { member: member.id }, body: { site, role } });
  return (
    <Modal opened={isOpen} onClose={onClose} title={settingsText.member.rolesTitle(member.name)}>
      <Stack gap="md">
        {!member.confirmed && <NotConfirmed member={member} />}
        {member.grants.length === 0 && <Text size="sm">{settingsText.member.noRole}</Text>}
        {member.grants.map(({ site, role }) => {
          const scope = scopeName(site);
          const mayChange = roleOn(mine, site) === "owner";
          return (
            <Group key={site ?? allSites} gap="xs" align="flex-end" wrap="nowrap">
              <Select
                label={scope}
                flex={1}
                data={roleChoices()}
                allowDeselect={false}
                disabled={!mayChange || isPending}
                value={role}
                onChange={(next) => next !== null && assign(site, next as Role)}
              />
              {mayChange && (
                <Button
                  variant="default"
                  disabled={isPending}
                  aria-label={settingsText.member.removeRole(inText(site))}
                  onClick={() => assign(site, null)}
                >
                  {settingsText.remove}
                </Button>
              )}
            </Group>
          );
        })}
        <RequestError error={error} />
        <AddRole member={member} isBusy={isPending} onAssign={assign} />
      </Stack>
    </Modal>
  );
}

/** The inviter saw the link and may have created the account. */
function NotConfirmed({ member: { email, invitedBy } }: { member: Member }) {
  const who = invitedBy ?? settingsText.member.aSiteOwner;
  return (
    <Alert variant="light" color="yellow" icon={<TriangleAlert size={18} />} role="status">
      {settingsText.member.unconfirmed(email, who)}
    </Alert>
  );
}

function AddRole({
  member,
  isBusy,
  onAssign,
}: {
  member: Member;
  isBusy: boolean;
  onAssign: (site: string | null, role: Role) => void;
}) {
  const scopes = useOwnedScopes().filter(({ value }) => !member.grants.some(({ site }) => site === siteOfScope(value)));
  const [scope, setScope] = useState<string | null>(null);
  const [role, setRole] = useState<Role>("viewer");
  if (scopes.length === 0) return null;
  return (
    <Form
      onSubmit={() => {
        if (scope === null) return;
        onAssign(siteOfScope(scope), role);
        setScope(null);
      }}
    >
      <Group gap="xs" align="flex-end">
        <Select
          label={settingsText.member.addRoleOn}
          placeholder={settingsText.member.choose}
          flex="1 1 160px"
          data={scopes}
          value={scope}
          onChange={setScope}
        />
        <Select
          label={settingsText.members.role}
          w={110}
          data={roleChoices()}
          allowDeselect={false}
          value={role}
          onChange={(next) => next !== null && setRole(next as Role)}
        />
        <Button type="submit" variant="default" loading={isBusy} disabled={scope === null}>
          {settingsText.member.add}
        </Button>
      </Group>
    </Form>
  );
}
