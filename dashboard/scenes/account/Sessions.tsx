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

type Session = Answer<"GET /sessions">["items"][number];

export function Sessions() {
  const { data, error, refetch } = useApi("GET /sessions", {});
  const end = useSend("DELETE /sessions/:session", { onDone: () => notify("Session ended.") });
  const sorted = data?.items.toSorted(
    (one, other) => Number(other.isThis) - Number(one.isThis) || other.lastSeenAt - one.lastSeenAt,
  );
  const others = data?.items.filter(({ isThis }) => !isThis) ?? [];
  const endOthers = async () => {
    await Promise.all(others.map(({ id }) => call("DELETE /sessions/:session", { params: { session: id } })));
    await queryClient.invalidateQueries();
    notify("You are signed out everywhere else.");
  };

  const columns: Column<Session>[] = [
    {
      title: "Browser",
      cell: ({ userAgent, isThis }) => (
        <Group gap="xs">
          <Text size="sm" {...(userAgent ? { title: userAgent } : {})}>
            {browserName(userAgent)}
          </Text>
          {isThis && (
            <Badge miw="fit-content" size="sm" variant="light" tt="none">
              this one
            </Badge>
          )}
        </Group>
      ),
    },
    {
      title: "IP address",
      cell: ({ address }) => <span className="cc-mono">{address ?? "–"}</span>,
      wide: true,
    },
    { title: "Last seen", cell: ({ lastSeenAt }) => <Time at={lastSeenAt} /> },
    { title: "Signed in", cell: ({ createdAt }) => <Time at={createdAt} />, wide: true },
    {
      title: "",
      align: "right",
      cell: ({ id, isThis, userAgent }) =>
        !isThis && (
          <Button
            size="compact-sm"
            variant="default"
            aria-label={`Sign out ${browserName(userAgent)}`}
            loading={end.isPending && end.variables.params.session === id}
            onClick={() => end.mutate({ params: { session: id } })}
          >
            Sign out
          </Button>
        ),
    },
  ];
  return (
    <Card
      title="Sessions"
      about="Browsers in which you are signed in. End sessions that you do not recognise, and change your password."
      padded={false}
      actions={
        others.length > 0 && (
          <ConfirmButton
            label="Sign out everywhere else"
            question="Sign out everywhere else?"
            consequence={`${others.length === 1 ? "One other session ends" : `${others.length} other sessions end`} immediately. This one stays.`}
            confirm="Sign out"
            onConfirm={endOthers}
            danger={false}
          />
        )
      }
    >
      <Rows
        label="Sessions"
        columns={columns}
        rows={sorted}
        keyOf={({ id }) => id}
        error={error ?? end.error}
        onRetry={() => void refetch()}
        empty={<Empty icon={MonitorSmartphone} title="No sessions" />}
      />
    </Card>
  );
}

const browsers: [RegExp, string][] = [
  [/Edg\//, "Edge"],
  [/OPR\//, "Opera"],
  [/Firefox\/|FxiOS/, "Firefox"],
  [/Chrome\/|CriOS/, "Chrome"],
  [/Safari\//, "Safari"],
];
const systems: [RegExp, string][] = [
  [/iPhone/, "iPhone"],
  [/iPad/, "iPad"],
  [/Android/, "Android"],
  [/Windows/, "Windows"],
  [/Mac OS X/, "macOS"],
  [/CrOS/, "ChromeOS"],
  [/Linux/, "Linux"],
];

/** "Chrome on macOS": enough to recognise one's own devices. */
function browserName(userAgent: string | null): string {
  if (!userAgent) return "Unknown browser";
  const find = (list: [RegExp, string][]) => list.find(([pattern]) => pattern.test(userAgent))?.[1];
  const browser = find(browsers) ?? userAgent.split(/[/ ]/, 1)[0] ?? "Unknown browser";
  const system = find(systems);
  return system ? `${browser} on ${system}` : browser;
}
