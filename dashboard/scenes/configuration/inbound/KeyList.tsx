// The site's inbound keys: create, rotate, revoke.

import { Badge, Group, Stack, Switch, Text } from "@mantine/core";
import { KeyRound } from "lucide-react";
import { useState } from "react";
import { Card } from "../../../common/Page.tsx";
import type { Answer } from "../../../common/api/api.ts";
import { useApi, useSend } from "../../../common/api/query.ts";
import { useMay, useSiteId } from "../../../common/api/session.ts";
import { ConfirmButton, OneTimeSecret } from "../../../common/dialogs.tsx";
import { countText } from "../../../common/format/numbers.ts";
import { Rows, type Column } from "../../../common/lists/Rows.tsx";
import { notify } from "../../../common/notices.tsx";
import { Empty } from "../../../common/states.tsx";
import { State, Time } from "../../../common/values.tsx";
import { CreateKey } from "./CreateKey.tsx";
import { CodeSamples } from "./CodeSamples.tsx";
import { useInboundAddress } from "./inboundSamples.ts";
import { configurationText } from "../../../messages/configuration.ts";

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
          note: openedInbound ? configurationText.keys.firstKey : "",
        })
      }
    />
  );

  const columns: Column<Key>[] = [
    {
      title: configurationText.keys.columns.name,
      cell: ({ name, mode, prefix }) => (
        <Stack gap={0} className="cc-name" miw={100}>
          <Group gap="xs">
            <Text size="sm" fw={500}>
              {name}
            </Text>
            <Badge miw="fit-content" size="sm" variant="light" color={mode === "live" ? "accent" : "gray"} tt="none">
              {configurationText.keys.modes[mode]}
            </Badge>
          </Group>
          <span className="cc-mono cc-quiet">{prefix}…</span>
        </Stack>
      ),
    },
    {
      title: configurationText.keys.columns.state,
      cell: ({ state }) => <State of={state === "expired" ? "expiredKey" : state} />,
    },
    {
      title: configurationText.keys.columns.lastUsed,
      cell: ({ lastUsedAt }) => <Time at={lastUsedAt} />,
      wide: true,
    },
    {
      title: configurationText.keys.columns.uses,
      align: "right",
      cell: ({ uses24h }) => countText(uses24h),
      wide: true,
    },
    {
      title: configurationText.keys.columns.created,
      cell: ({ createdAt }) => <Time at={createdAt} />,
      wide: true,
    },
    {
      title: configurationText.keys.columns.expires,
      cell: ({ expiresAt }) => <Time at={expiresAt} />,
      wide: true,
    },
  ];
  if (mayChange)
    columns.push({
      title: configurationText.keys.columns.actions,
      align: "right",
      cell: (key) =>
        key.state === "active" && (
          <KeyActions row={key} onRotated={(next) => setCreated({ key: next, note: configurationText.keys.oldKey })} />
        ),
    });
  return (
    <Card title={configurationText.keys.title} about={configurationText.keys.about} padded={false} actions={create}>
      <Rows
        label={configurationText.keys.title}
        columns={columns}
        rows={rows}
        keyOf={({ id }) => id}
        error={error}
        onRetry={() => void refetch()}
        empty={
          <Empty icon={KeyRound} title={configurationText.keys.emptyTitle} action={create}>
            {mayChange ? configurationText.keys.empty : configurationText.keys.emptyViewer}
          </Empty>
        }
      />
      {hasInactive && (
        <Switch
          m="md"
          size="sm"
          label={configurationText.keys.showAll}
          checked={showAll}
          onChange={(event) => setShowAll(event.currentTarget.checked)}
        />
      )}
      <OneTimeSecret title={configurationText.keys.secret} secret={created?.key ?? null} onClose={() => setCreated(null)}>
        {created?.note && <Text size="sm">{created.note}</Text>}
        <Text size="sm">{configurationText.keys.tryIt}</Text>
        <CodeSamples address={address} keyText={created?.key ?? ""} />
      </OneTimeSecret>
    </Card>
  );
}

function KeyActions({ row, onRotated }: { row: Key; onRotated: (key: string) => void }) {
  const site = useSiteId();
  const params = { site, key: row.id };
  const rotate = useSend("POST /sites/:site/keys/:key/rotate", { onDone: ({ key }) => onRotated(key) });
  const revoke = useSend("DELETE /sites/:site/keys/:key", {
    onDone: () => notify(configurationText.keys.revoked(row.name)),
  });
  return (
    <Group gap={4} justify="flex-end">
      <ConfirmButton
        label={configurationText.keys.rotate}
        size="compact-sm"
        danger={false}
        question={configurationText.keys.rotateQuestion(row.name)}
        consequence={configurationText.keys.rotateConsequence}
        confirm={configurationText.keys.rotate}
        onConfirm={() => rotate.mutateAsync({ params, body: {} })}
        isBusy={rotate.isPending}
        error={rotate.error}
      />
      <ConfirmButton
        label={configurationText.keys.revoke}
        size="compact-sm"
        question={configurationText.keys.revokeQuestion(row.name)}
        consequence={configurationText.keys.revokeConsequence(row.prefix)}
        confirm={configurationText.keys.revoke}
        onConfirm={() => revoke.mutateAsync({ params })}
        isBusy={revoke.isPending}
        error={revoke.error}
      />
    </Group>
  );
}
