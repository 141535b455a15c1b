// The site's inbound keys: create, rotate, revoke.

import { Badge, Group, Stack, Switch, Text } from "@mantine/core";
import { KeyRound } from "lucide-react";
import { useState } from "react";
import { Card } from "../../../common/Page.tsx";
import type { Answer } from "../../../common/api/api.ts";
import { useApi, useSend } from "../../../common/api/query.ts";
import { useMay, useSiteId } from "../../../common/api/session.ts";
import { ConfirmButton, OneTimeSecret } from "../../../common/dialogs.tsx";
import { countText } from "../../../common/format/format.ts";
import { Rows, type Column } from "../../../common/lists/Rows.tsx";
import { notify } from "../../../common/notices.tsx";
import { Empty } from "../../../common/states.tsx";
import { Code, State, Time } from "../../../common/values.tsx";
import { CreateKey } from "./CreateKey.tsx";
import { inboundCurl, useInboundAddress } from "./inboundCurl.ts";

type Key = Answer<"GET /sites/:site/keys">["items"][number];
type CreatedKey = { key: string; note: string };

export function KeyList() {
  const site = useSiteId();
  const mayChange = useMay("admin", site);
  const address = useInboundAddress();
  const { data, error, refetch } = useApi("GET /sites/:site/keys", { params: { site } });
  const [created, setCreated] = useState<CreatedKey | null>(null);
  const [showAll, setShowAll] = useState(false);
  const hasInactive = data?.items.some(({ state }) => state !== "active") ?? false;
  const rows = showAll ? data?.items : data?.items.filter(({ state }) => state === "active");
  const create = mayChange && (
    <CreateKey
      onCreated={({ key, openedInbound }) =>
        setCreated({
          key,
          note: openedInbound ? "This was the first key, so the inbound webhook is now on." : "",
        })
      }
    />
  );

  const columns: Column<Key>[] = [
    {
      title: "Name",
      cell: ({ name, mode, prefix }) => (
        <Stack gap={0}>
          <Group gap="xs">
            <Text size="sm" fw={500}>
              {name}
            </Text>
            <Badge
              miw="fit-content"
              size="sm"
              variant="light"
              color={mode === "live" ? "accent" : "gray"}
              tt="none"
            >
              {mode}
            </Badge>
          </Group>
          <span className="cc-mono cc-quiet">{prefix}…</span>
        </Stack>
      ),
    },
    { title: "State", cell: ({ state }) => <State of={state === "expired" ? "expiredKey" : state} /> },
    { title: "Last used", cell: ({ lastUsedAt }) => <Time at={lastUsedAt} />, wide: true },
    { title: "Uses in 24 h", align: "right", cell: ({ uses24h }) => countText(uses24h), wide: true },
    { title: "Created", cell: ({ createdAt }) => <Time at={createdAt} />, wide: true },
    { title: "Expires", cell: ({ expiresAt }) => <Time at={expiresAt} />, wide: true },
  ];
  if (mayChange)
    columns.push({
      title: "",
      align: "right",
      cell: (key) =>
        key.state === "active" && (
          <KeyActions
            row={key}
            onRotated={(next) => setCreated({ key: next, note: "The old key stays valid for 24 hours." })}
          />
        ),
    });
  return (
    <Card
      title="Inbound keys"
      about="Use one key per integration, so that you can revoke each on its own. Keep keys on servers, never in browser code."
      padded={false}
      actions={create}
    >
      <Rows
        label="Inbound keys"
        columns={columns}
        rows={rows}
        keyOf={({ id }) => id}
        error={error}
        onRetry={() => void refetch()}
        empty={
          <Empty icon={KeyRound} title="No keys yet" action={create}>
            {mayChange
              ? "Create one for your CRM or shop. The first key turns the inbound webhook on."
              : "An admin of this site can create one."}
          </Empty>
        }
      />
      {hasInactive && (
        <Switch
          m="md"
          size="sm"
          label="Show revoked and expired keys"
          checked={showAll}
          onChange={(event) => setShowAll(event.currentTarget.checked)}
        />
      )}
      <OneTimeSecret title="Your inbound key" secret={created?.key ?? null} onClose={() => setCreated(null)}>
        {created?.note && <Text size="sm">{created.note}</Text>}
        <Text size="sm">Try it from a terminal:</Text>
        <Code label="command">{inboundCurl(address, created?.key ?? "")}</Code>
      </OneTimeSecret>
    </Card>
  );
}

function KeyActions({ row, onRotated }: { row: Key; onRotated: (key: string) => void }) {
  const site = useSiteId();
  const params = { site, key: row.id };
  const rotate = useSend("POST /sites/:site/keys/:key/rotate", { onDone: ({ key }) => onRotated(key) });
  const revoke = useSend("DELETE /sites/:site/keys/:key", {
    onDone: () => notify(`${row.name} revoked.`),
  });
  return (
    <Group gap={4} justify="flex-end">
      <ConfirmButton
        label="Rotate"
        size="compact-sm"
        danger={false}
        question={`Rotate ${row.name}?`}
        consequence="You get a new key with the same name. The old key stays valid for 24 hours, so that the sender can switch."
        confirm="Rotate"
        onConfirm={() => rotate.mutateAsync({ params, body: {} })}
        isBusy={rotate.isPending}
        error={rotate.error}
      />
      <ConfirmButton
        label="Revoke"
        size="compact-sm"
        question={`Revoke ${row.name}?`}
        consequence={`Senders that use ${row.prefix}… get 401 within two seconds. This cannot be undone.`}
        confirm="Revoke"
        onConfirm={() => revoke.mutateAsync({ params })}
        isBusy={revoke.isPending}
        error={revoke.error}
      />
    </Group>
  );
}
