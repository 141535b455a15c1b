// The user's sessions.

import { Badge, Button, Group, Text } from "@mantine/core";
import { MonitorSmartphone } from "lucide-react";
import { Card } from "../../common/Page.tsx";
import { call, type Answer } from "../../common/api/api.ts";
import { queryClient, useApi, useSend } from "../../common/api/query.ts";
import { ConfirmButton } from "../../common/dialogs.tsx";
import { Rows, type Column } from "../../common/lists/Rows.tsx";
import { notify } from "../../common/notices.tsx";
import { Empty } from "../../common/states.tsx";
import { Time } from "../../common/values.tsx";
import { accountText } from "../../messages/account.ts";
import { browserName } from "./browserName.ts";

type Session = Answer<"GET /sessions">["items"][number];

export function Sessions() {
  const { data, error, refetch } = useApi("GET /sessions", {});
  const end = useSend("DELETE /sessions/:session", { onDone: () => notify(accountText.sessions.ended) });
  const sorted = data?.items.toSorted(
    (one, other) => Number(other.isThis) - Number(one.isThis) || other.lastSeenAt - one.lastSeenAt,
  );
  const others = data?.items.filter(({ isThis }) => !isThis) ?? [];
  const endOthers = async () => {
    await Promise.all(others.map(({ id }) => call("DELETE /sessions/:session", { params: { session: id } })));
    await queryClient.invalidateQueries();
    notify(accountText.sessions.othersEnded);
  };

  const columns: Column<Session>[] = [
    {
      title: accountText.sessions.browser,
      cell: ({ userAgent, isThis }) => (
        <Group gap="xs">
          <Text size="sm" {...(userAgent ? { title: userAgent } : {})}>
            {browserName(userAgent)}
          </Text>
          {isThis && (
            <Badge miw="fit-content" size="sm" variant="light" tt="none">
              {accountText.sessions.isThis}
            </Badge>
          )}
        </Group>
      ),
    },
    {
      title: accountText.sessions.address,
      cell: ({ address }) => <span className="cc-mono">{address ?? "–"}</span>,
      wide: true,
    },
    { title: accountText.sessions.lastSeen, cell: ({ lastSeenAt }) => <Time at={lastSeenAt} /> },
    { title: accountText.sessions.signedIn, cell: ({ createdAt }) => <Time at={createdAt} />, wide: true },
    {
      title: "",
      align: "right",
      cell: ({ id, isThis, userAgent }) =>
        !isThis && (
          <Button
            size="compact-sm"
            variant="default"
            aria-label={accountText.sessions.signOutOf(browserName(userAgent))}
            loading={end.isPending && end.variables.params.session === id}
            onClick={() => end.mutate({ params: { session: id } })}
          >
            {accountText.sessions.signOut}
          </Button>
        ),
    },
  ];
  return (
    <Card
      title={accountText.sessions.title}
      about={accountText.sessions.about}
      padded={false}
      actions={
        others.length > 0 && (
          <ConfirmButton
            label={accountText.sessions.endOthers}
            question={accountText.sessions.endOthersQuestion}
            consequence={accountText.sessions.endOthersConsequence(others.length)}
            confirm={accountText.sessions.signOut}
            onConfirm={endOthers}
            danger={false}
          />
        )
      }
    >
      <Rows
        label={accountText.sessions.title}
        columns={columns}
        rows={sorted}
        keyOf={({ id }) => id}
        error={error ?? end.error}
        onRetry={() => void refetch()}
        empty={<Empty icon={MonitorSmartphone} title={accountText.sessions.none} />}
      />
    </Card>
  );
}
