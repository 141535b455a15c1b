// The site's inbound keys: make, rotate, revoke.

import { Badge, Group, Stack, Switch, Text } from "@mantine/core";
import { KeyRound } from "lucide-react";
import { useState } from "react";
import type { Answer } from "../../common/api.ts";
import { AskButton, SecretOnce } from "../../common/dialogs.tsx";
import { told } from "../../common/notices.tsx";
import { countText } from "../../common/format.ts";
import { Card } from "../../common/Page.tsx";
import { useApi, useSend } from "../../common/query.ts";
import { Rows, type Column } from "../../common/Rows.tsx";
import { useMay, useSiteId } from "../../common/session.tsx";
import { Empty } from "../../common/states.tsx";
import { Code, State, When } from "../../common/values.tsx";
import { CreateKey } from "./CreateKey.tsx";
import { inboundCurl, useInboundAddress } from "./inboundCurl.ts";

type Key = Answer<"GET /sites/:site/keys">["items"][number];
type Fresh = { key: string; note: string };

export function KeyList() {
  const site = useSiteId();
  const mayChange = useMay("admin", site);
  const address = useInboundAddress();
  const { data, error, refetch } = useApi("GET /sites/:site/keys", { params: { site } });
  const [fresh, setFresh] = useState<Fresh | null>(null);
  const [isAll, setAll] = useState(false);
  const hasEnded = data?.items.some(({ state }) => state !== "active") ?? false;
  const rows = isAll ? data?.items : data?.items.filter(({ state }) => state === "active");
  const create = mayChange && (
    <CreateKey
      onMade={({ key, openedInbound }) =>
        setFresh({ key, note: openedInbound ? "The inbound webhook is now on: this was the first key." : "" })
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
    { title: "Last used", cell: ({ lastUsedAt }) => <When at={lastUsedAt} />, wide: true },
    { title: "Uses in 24 h", align: "right", cell: ({ uses24h }) => countText(uses24h), wide: true },
    { title: "Created", cell: ({ createdAt }) => <When at={createdAt} />, wide: true },
    { title: "Expires", cell: ({ expiresAt }) => <When at={expiresAt} />, wide: true },
  ];
  if (mayChange)
    columns.push({
      title: "",
      align: "right",
      cell: (key) =>
        key.state === "active" && (
          <KeyActions
            row={key}
            onRotated={(next) => setFresh({ key: next, note: "The old key is good for 24 hours more." })}
          />
        ),
    });
  return (
    <Card
      title="Inbound keys"
      about="One key per integration, so that a compromised one is revoked alone. Keep keys on servers, never in browser code."
      padded={false}
      actions={create}
    >
      <Rows
        label="Inbound keys"
        columns={columns}
        rows={rows}
        keyOf={({ id }) => id}
        error={error}
        again={() => void refetch()}
        empty={
          <Empty icon={KeyRound} title="No key yet" action={create}>
            {mayChange
              ? "Make one for your CRM or shop. The first key switches the inbound webhook on."
              : "An admin of this site can make one."}
          </Empty>
        }
      />
      {hasEnded && (
        <Switch
          m="md"
          size="sm"
          label="Show revoked and expired keys"
          checked={isAll}
          onChange={(event) => setAll(event.currentTarget.checked)}
        />
      )}
      <SecretOnce title="Your inbound key" secret={fresh?.key ?? null} onClose={() => setFresh(null)}>
        {fresh?.note && <Text size="sm">{fresh.note}</Text>}
        <Text size="sm">Try it from a terminal:</Text>
        <Code label="command">{inboundCurl(address, fresh?.key ?? "")}</Code>
      </SecretOnce>
    </Card>
  );
}

function KeyActions({ row, onRotated }: { row: Key; onRotated: (key: string) => void }) {
  const site = useSiteId();
  const params = { site, key: row.id };
  const rotate = useSend("POST /sites/:site/keys/:key/rotate", { onDone: ({ key }) => onRotated(key) });
  const revoke = useSend("DELETE /sites/:site/keys/:key", {
    onDone: () => told(`${row.name} is revoked.`),
  });
  return (
    <Group gap={4} justify="flex-end">
      <AskButton
        label="Rotate"
        size="compact-sm"
        danger={false}
        question={`Rotate ${row.name}?`}
        consequence="You get a new key of the same name. The old one is good for 24 hours more, so that the sender can change over."
        confirm="Rotate"
        onConfirm={() => rotate.mutateAsync({ params, body: {} })}
        isBusy={rotate.isPending}
        error={rotate.error}
      />
      <AskButton
        label="Revoke"
        size="compact-sm"
        question={`Revoke ${row.name}?`}
        consequence={`Whoever uses ${row.prefix}… gets 401 within two seconds. This cannot be taken back.`}
        confirm="Revoke"
        onConfirm={() => revoke.mutateAsync({ params })}
        isBusy={revoke.isPending}
        error={revoke.error}
      />
    </Group>
  );
}
