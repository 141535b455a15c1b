import { Mail } from "lucide-react";
import type { Answer } from "../../common/api.ts";
import { AskButton } from "../../common/dialogs.tsx";
import { told } from "../../common/notices.tsx";
import { Card } from "../../common/Page.tsx";
import { useSend } from "../../common/query.ts";
import { Rows, type Column } from "../../common/Rows.tsx";
import { Empty } from "../../common/states.tsx";
import { When } from "../../common/values.tsx";
import { usePlaceName } from "./places.ts";
import { roleNames } from "./roles.ts";

type Invitation = Answer<"GET /members">["invitations"][number];

/** Those that nobody accepted yet. */
export function Invitations({ invitations }: { invitations: readonly Invitation[] }) {
  const placeName = usePlaceName();
  const columns: Column<Invitation>[] = [
    { title: "Email", cell: ({ email }) => email },
    {
      title: "Role",
      cell: ({ role, site }) => `${roleNames[role]} on ${site === null ? "all sites" : placeName(site)}`,
    },
    { title: "Invited by", cell: ({ invitedBy }) => invitedBy, wide: true },
    { title: "Expires", cell: ({ expiresAt }) => <When at={expiresAt} />, wide: true },
    { title: "", align: "right", cell: (invitation) => <Withdraw invitation={invitation} /> },
  ];
  return (
    <Card title="Open invitations" padded={false}>
      <Rows
        label="Open invitations"
        columns={columns}
        rows={invitations}
        keyOf={({ id }) => id}
        empty={<Empty icon={Mail} title="No open invitation" />}
      />
    </Card>
  );
}

function Withdraw({ invitation: { id, email } }: { invitation: Invitation }) {
  const withdraw = useSend("DELETE /members/invitations/:invitation", {
    onDone: () => told("The invitation is revoked."),
  });
  return (
    <AskButton
      label="Revoke"
      size="compact-sm"
      question="Revoke this invitation?"
      consequence={`The link that ${email} got does not work any more. You can invite them again.`}
      confirm="Revoke"
      onConfirm={() => withdraw.mutateAsync({ params: { invitation: id } })}
      isBusy={withdraw.isPending}
      error={withdraw.error}
    />
  );
}
