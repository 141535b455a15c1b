// Members and their roles.

import { Badge, Group, List, Stack, Text } from "@mantine/core";
import { Users, Mail } from "lucide-react";
import { Card } from "../../common/Page.tsx";
import type { Answer } from "../../common/api/api.ts";
import { useApi, useSend } from "../../common/api/query.ts";
import { useSession, allRoles, roleNames, roleSentences } from "../../common/api/session.ts";
import { ConfirmButton } from "../../common/dialogs.tsx";
import { Rows, type Column } from "../../common/lists/Rows.tsx";
import { notify } from "../../common/notices.tsx";
import { Empty } from "../../common/states.tsx";
import { State, Time } from "../../common/values.tsx";
import { SettingsPage } from "../frame/SectionPage.tsx";
import { Invite } from "./Invite.tsx";
import { MemberActions } from "./MemberActions.tsx";
import { OwnersOnly } from "./OwnersOnly.tsx";
import { useOwnedScopes, useScopeName } from "./scopes.ts";

export type Member = Answer<"GET /members">["members"][number];

export default function Members() {
  const isOwner = useOwnedScopes().length > 0;
  const session = useSession();
  return (
    <SettingsPage tab="members">
      {isOwner || !session.data ? (
        <MemberList />
      ) : (
        <OwnersOnly title="Only owners can manage members">
          Ask an owner of this site to invite a person or to change a role.
        </OwnersOnly>
      )}
      <Card title="Roles">
        <List size="sm" spacing={4}>
          {allRoles.map((role) => (
            <List.Item key={role}>{roleSentences[role]}</List.Item>
          ))}
        </List>
      </Card>
    </SettingsPage>
  );
}

function MemberList() {
  const { data, error, refetch } = useApi("GET /members", {});
  const columns: Column<Member>[] = [
    {
      title: "Member",
      cell: ({ name, email, isMe, confirmed, invitedBy }) => (
        <Stack gap={0}>
          <Group gap="xs">
            <Text size="sm" fw={500}>
              {name}
            </Text>
            {isMe && (
              <Badge miw="fit-content" size="sm" variant="light" tt="none">
                you
              </Badge>
            )}
          </Group>
          <Text size="sm" c="dimmed">
            {email}
          </Text>
          {!confirmed && (
            <Text size="xs" c="dimmed">
              Email not confirmed{invitedBy !== null && `; invited by ${invitedBy}`}
            </Text>
          )}
        </Stack>
      ),
    },
    { title: "Roles", cell: ({ grants }) => <Grants grants={grants} /> },
    {
      title: "Two-factor",
      cell: ({ twoFactor }) => <State of={twoFactor ? "on" : "off"} />,
      wide: true,
    },
    { title: "Last seen", cell: ({ lastSeenAt }) => <Time at={lastSeenAt} />, wide: true },
    { title: "", align: "right", cell: (member) => <MemberActions member={member} /> },
  ];
  return (
    <>
      <Card title="Members" actions={<Invite />} padded={false}>
        <Rows
          label="Members"
          columns={columns}
          rows={data?.members}
          keyOf={({ id }) => id}
          error={error}
          onRetry={() => void refetch()}
          empty={<Empty icon={Users} title="No members" />}
        />
      </Card>
      {data && data.invitations.length > 0 && <Invitations invitations={data.invitations} />}
    </>
  );
}

function Grants({ grants }: { grants: Member["grants"] }) {
  const scopeName = useScopeName();
  if (grants.length === 0) return <span className="cc-quiet">none, no access</span>;
  return (
    <Stack gap={0}>
      {grants.map(({ site, role }) => (
        <Text key={site ?? ""} size="sm">
          {roleNames[role]}{" "}
          <Text span c="dimmed" size="sm">
            on {site === null ? "all sites" : scopeName(site)}
          </Text>
        </Text>
      ))}
    </Stack>
  );
}

type Invitation = Answer<"GET /members">["invitations"][number];

/** Invitations that are not accepted yet. */
function Invitations({ invitations }: { invitations: readonly Invitation[] }) {
  const scopeName = useScopeName();
  const columns: Column<Invitation>[] = [
    { title: "Email", cell: ({ email }) => email },
    {
      title: "Role",
      cell: ({ role, site }) => `${roleNames[role]} on ${site === null ? "all sites" : scopeName(site)}`,
    },
    { title: "Invited by", cell: ({ invitedBy }) => invitedBy, wide: true },
    { title: "Expires", cell: ({ expiresAt }) => <Time at={expiresAt} />, wide: true },
    { title: "", align: "right", cell: (invitation) => <RevokeInvitation invitation={invitation} /> },
  ];
  return (
    <Card title="Open invitations" padded={false}>
      <Rows
        label="Open invitations"
        columns={columns}
        rows={invitations}
        keyOf={({ id }) => id}
        empty={<Empty icon={Mail} title="No open invitations" />}
      />
    </Card>
  );
}

function RevokeInvitation({ invitation: { id, email } }: { invitation: Invitation }) {
  const withdraw = useSend("DELETE /members/invitations/:invitation", {
    onDone: () => notify("Invitation revoked."),
  });
  return (
    <ConfirmButton
      label="Revoke"
      size="compact-sm"
      question="Revoke this invitation?"
      consequence={`The link that was sent to ${email} stops working. You can invite them again.`}
      confirm="Revoke"
      onConfirm={() => withdraw.mutateAsync({ params: { invitation: id } })}
      isBusy={withdraw.isPending}
      error={withdraw.error}
    />
  );
}
