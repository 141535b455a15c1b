// The site's inbound keys: create, rotate, revoke.

import { Badge, Group, Text } from "@mantine/core";
import { KeyRound } from "lucide-react";
import { useState } from "react";
import { Card } from "../../../common/Page.tsx";
import type { Answer } from "../../../common/api/api.ts";
import { useApi, useSend } from "../../../common/api/query.ts";
import { useMay, useSiteId } from "../../../common/api/session.ts";
import { ConfirmButton, OneTimeSecret } from "../../../common/dialogs.tsx";
import { KeyTable } from "../../../common/lists/KeyTable.tsx";
import { notify } from "../../../common/notices.tsx";
import { Empty } from "../../../common/states.tsx";
import { Time } from "../../../common/values.tsx";
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
  const keys = useApi("GET /sites/:site/keys", { params: { site } });
  const [created, setCreated] = useState<CreatedKey | null>(null);
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
  return (
    <Card
      title={configurationText.keys.title}
      about={configurationText.keys.about}
      padded={false}
      actions={keys.data?.items.length ? create : null}
    >
      <KeyTable
        of={keys}
        texts={configurationText.keys}
        stateOf={({ state }) => state}
        badge={({ mode }) => (
          <Badge miw="fit-content" size="sm" variant="light" color={mode === "live" ? "accent" : "gray"} tt="none">
            {configurationText.keys.modes[mode]}
          </Badge>
        )}
        after={[{ title: configurationText.keys.columns.created, cell: ({ createdAt }) => <Time at={createdAt} />, wide: true }]}
        actions={
          mayChange &&
          ((key) => <KeyActions row={key} onRotated={(next) => setCreated({ key: next, note: configurationText.keys.oldKey })} />)
        }
        empty={
          <Empty icon={KeyRound} title={configurationText.keys.emptyTitle} action={keys.data?.items.length === 0 && create}>
            {mayChange ? configurationText.keys.empty : configurationText.keys.emptyViewer}
          </Empty>
        }
      />
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
        of={rotate}
      />
      <ConfirmButton
        label={configurationText.keys.revoke}
        size="compact-sm"
        question={configurationText.keys.revokeQuestion(row.name)}
        consequence={configurationText.keys.revokeConsequence(row.prefix)}
        confirm={configurationText.keys.revoke}
        onConfirm={() => revoke.mutateAsync({ params })}
        of={revoke}
      />
    </Group>
  );
}
