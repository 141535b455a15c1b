import { Mail } from "lucide-react";
import type { Answer } from "../../common/api/api.ts";
import { ConfirmButton } from "../../common/dialogs.tsx";
import { notify } from "../../common/notices.tsx";
import { Card } from "../../common/Page.tsx";
import { useSend } from "../../common/api/query.ts";
import { Rows, type Column } from "../../common/lists/Rows.tsx";
import { Empty } from "../../common/states.tsx";
import { Time } from "../../common/values.tsx";
import { usePlaceName } from "./scopes.ts";
import { roleNames } from "./roles.ts";

type Invitation = Answer<"GET /members">["invitations"][number];

/** Invitations that are not accepted yet. */
export function Invitations({ invitations }: { invitations: readonly Invitation[] }) {
  const placeName = usePlaceName();
  const columns: Column<Invitation>[] = [
    { title: "Email", cell: ({ email }) => email },
    {
      title: "Role",
      cell: ({ role, site }) => `${roleNames[role]} on ${site === null ? "all sites" : placeName(site)}`,
    },
    { title: "Invited by", cell: ({ invitedBy }) => invitedBy, wide: true },
    { title: "Expires", cell: ({ expiresAt }) => <Time at={expiresAt} />, wide: true },
    { title: "", align: "right", cell: (invitation) => <Withdraw invitation={invitation} /> },
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

function Withdraw({ invitation: { id, email } }: { invitation: Invitation }) {
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
