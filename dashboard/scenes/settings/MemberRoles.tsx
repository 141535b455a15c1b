// The roles of one member, site by site. Each change is saved immediately.

import { Alert, Button, Group, Modal, Select, Stack, Text } from "@mantine/core";
import { TriangleAlert } from "lucide-react";
import { useState } from "react";
import { useSend } from "../../common/api/query.ts";
import { roleOn, useSession, allRoles, roleNames, type Role } from "../../common/api/session.ts";
import { notify } from "../../common/notices.tsx";
import { RequestError } from "../../common/states.tsx";
import type { Member } from "./Members.tsx";
import { allSites, siteOfScope, useOwnedScopes, useScopeName } from "./scopes.ts";

const roleChoices = allRoles.map((role) => ({ value: role as string, label: roleNames[role] }));

export function MemberRoles({
  member,
  isOpen,
  onClose,
}: {
  member: Member;
  isOpen: boolean;
  onClose: () => void;
}) {
  const scopeName = useScopeName();
  const mine = useSession().data?.grants ?? [];
  const { mutate, error, isPending } = useSend("PUT /members/:member/grants", {
    onDone: (_, { body }) =>
      notify(
        body.role === null
          ? `${member.name} no longer has a role on ${scopeName(body.site)}.`
          : `${member.name} is ${body.role} on ${scopeName(body.site)}.`,
      ),
  });
  const assign = (site: string | null, role: Role | null) =>
    mutate({ params: { member: member.id }, body: { site, role } });
  return (
    <Modal opened={isOpen} onClose={onClose} title={`Roles of ${member.name}`}>
      <Stack gap="md">
        {!member.confirmed && <NotConfirmed member={member} />}
        {member.grants.length === 0 && <Text size="sm">No role, no access.</Text>}
        {member.grants.map(({ site, role }) => {
          const scope = scopeName(site);
          const mayChange = roleOn(mine, site) === "owner";
          return (
            <Group key={site ?? allSites} gap="xs" align="flex-end" wrap="nowrap">
              <Select
                label={scope}
                flex={1}
                data={roleChoices}
                allowDeselect={false}
                disabled={!mayChange || isPending}
                value={role}
                onChange={(next) => next !== null && assign(site, next as Role)}
              />
              {mayChange && (
                <Button
                  variant="default"
                  disabled={isPending}
                  aria-label={`Remove the role on ${scope}`}
                  onClick={() => assign(site, null)}
                >
                  Remove
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
  const who = invitedBy ?? "an owner of one site";
  return (
    <Alert variant="light" color="yellow" icon={<TriangleAlert size={18} />} role="status">
      It is not confirmed that this account belongs to {email}: the invitation link was shown to {who}. To
      confirm it, an owner of the installation sends a password reset link, which the person opens. Do not
      assign further roles before that.
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
  const scopes = useOwnedScopes().filter(
    ({ value }) => !member.grants.some(({ site }) => site === siteOfScope(value)),
  );
  const [scope, setScope] = useState<string | null>(null);
  const [role, setRole] = useState<Role>("viewer");
  if (scopes.length === 0) return null;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (scope === null) return;
        onAssign(siteOfScope(scope), role);
        setScope(null);
      }}
    >
      <Group gap="xs" align="flex-end">
        <Select
          label="Add a role on"
          placeholder="Choose"
          flex="1 1 160px"
          data={scopes}
          value={scope}
          onChange={setScope}
        />
        <Select
          label="Role"
          w={110}
          data={roleChoices}
          allowDeselect={false}
          value={role}
          onChange={(next) => next !== null && setRole(next as Role)}
        />
        <Button type="submit" variant="default" loading={isBusy} disabled={scope === null}>
          Add
        </Button>
      </Group>
    </form>
  );
}
