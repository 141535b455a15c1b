// Members and their roles.

import { Badge, Box, Group, List, Stack, Text } from "@mantine/core";
import { Users, Mail } from "lucide-react";
import { Card } from "../../common/Page.tsx";
import type { Answer } from "../../common/api/api.ts";
import { useApi, useSend } from "../../common/api/query.ts";
import { useSession, allRoles } from "../../common/api/session.ts";
import { commonText } from "../../messages/common.ts";
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
import { settingsText } from "../../messages/settings.ts";

export type Member = Answer<"GET /members">["members"][number];

export default function Members() {
  const isOwner = useOwnedScopes().length > 0;
  const session = useSession();
  return (
    <SettingsPage tab="members">
      {isOwner || !session.data ? (
        <MemberList />
      ) : (
        <OwnersOnly title={settingsText.members.ownersOnly}>{settingsText.members.aboutOwnersOnly}</OwnersOnly>
      )}
      <Card title={settingsText.members.roles}>
        <List size="sm" spacing={4}>
          {allRoles.map((role) => (
            <List.Item key={role}>{commonText.roleSentences[role]}</List.Item>
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
      title: settingsText.members.columns.member,
      cell: ({ name, email, isMe, confirmed, invitedBy, grants }) => (
        <Stack gap={0} className="cc-name" miw={116}>
          <Group gap="xs">
            <Text size="sm" fw={500}>
              {name}
            </Text>
            {isMe && (
              <Badge miw="fit-content" size="sm" variant="light" tt="none">
                {settingsText.members.you}
              </Badge>
            )}
          </Group>
          <Text size="sm" c="dimmed">
            {email}
          </Text>
          <Box hiddenFrom="sm">
            <Grants grants={grants} />
          </Box>
          {!confirmed && (
            <Text size="xs" c="dimmed">
              {invitedBy === null ? settingsText.members.notConfirmed : settingsText.members.notConfirmedInvitedBy(invitedBy)}
            </Text>
          )}
        </Stack>
      ),
    },
    { title: settingsText.members.columns.roles, cell: ({ grants }) => <Grants grants={grants} />, wide: true },
    {
      title: settingsText.members.columns.twoFactor,
      cell: ({ twoFactor }) => <State of={twoFactor ? "on" : "off"} />,
      wide: true,
    },
    {
      title: settingsText.members.columns.lastSeen,
      cell: ({ lastSeenAt }) => <Time at={lastSeenAt} />,
      wide: true,
    },
    {
      title: settingsText.members.columns.actions,
      align: "right",
      cell: (member) => <MemberActions member={member} />,
    },
  ];
  return (
    <>
      <Card title={settingsText.members.title} actions={<Invite />} padded={false}>
        <Rows
          label={settingsText.members.title}
          columns={columns}
          rows={data?.members}
          keyOf={({ id }) => id}
          error={error}
          onRetry={() => void refetch()}
          empty={<Empty icon={Users} title={settingsText.members.none} />}
        />
      </Card>
      {data && data.invitations.length > 0 && <Invitations invitations={data.invitations} />}
    </>
  );
}

function Grants({ grants }: { grants: Member["grants"] }) {
  const scopeName = useScopeName();
  if (grants.length === 0) return <span className="cc-quiet">{settingsText.members.noAccess}</span>;
  return (
    <Stack gap={0}>
      {grants.map(({ site, role }) => (
        <Text key={site ?? ""} size="sm" className="cc-name">
          {commonText.roles[role]}{" "}
          <Text span c="dimmed" size="sm">
            {settingsText.members.on(site === null ? settingsText.allSitesInText : scopeName(site))}
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
  const roleOf = ({ role, site }: Pick<Invitation, "role" | "site">) =>
    settingsText.members.roleOn(commonText.roles[role], site === null ? settingsText.allSitesInText : scopeName(site));
  const columns: Column<Invitation>[] = [
    {
      title: commonText.email,
      cell: ({ email, ...invitation }) => (
        <Text size="sm" component="div" className="cc-name" miw={116}>
          {email}
          <Text size="sm" c="dimmed" hiddenFrom="sm">
            {roleOf(invitation)}
          </Text>
        </Text>
      ),
    },
    {
      title: settingsText.members.role,
      cell: (invitation) => <div className="cc-name">{roleOf(invitation)}</div>,
      wide: true,
    },
    { title: settingsText.members.columns.invitedBy, cell: ({ invitedBy }) => invitedBy, wide: true },
    {
      title: settingsText.members.columns.expires,
      cell: ({ expiresAt }) => <Time at={expiresAt} />,
      wide: true,
    },
    {
      title: settingsText.members.columns.actions,
      align: "right",
      cell: (invitation) => <RevokeInvitation invitation={invitation} />,
    },
  ];
  return (
    <Card title={settingsText.members.invitations} padded={false}>
      <Rows
        label={settingsText.members.invitations}
        columns={columns}
        rows={invitations}
        keyOf={({ id }) => id}
        empty={<Empty icon={Mail} title={settingsText.members.noInvitations} />}
      />
    </Card>
  );
}

function RevokeInvitation({ invitation: { id, email } }: { invitation: Invitation }) {
  const withdraw = useSend("DELETE /members/invitations/:invitation", {
    onDone: () => notify(settingsText.members.revoked),
  });
  return (
    <ConfirmButton
      label={settingsText.revoke}
      size="compact-sm"
      question={settingsText.members.revokeQuestion}
      consequence={settingsText.members.revokeConsequence(email)}
      confirm={settingsText.revoke}
      onConfirm={() => withdraw.mutateAsync({ params: { invitation: id } })}
      of={withdraw}
    />
  );
}
