// Keys for the management API.

import { Anchor, Checkbox, List, Switch, Text } from "@mantine/core";
import { KeySquare } from "lucide-react";
import { useState } from "react";
import { Card } from "../../common/Page.tsx";
import type { Answer } from "../../common/api/api.ts";
import { useApi, useSend } from "../../common/api/query.ts";
import { useSession } from "../../common/api/session.ts";
import { ConfirmButton, OneTimeSecret } from "../../common/dialogs.tsx";
import { countText } from "../../common/format/format.ts";
import { Rows, type Column } from "../../common/lists/Rows.tsx";
import { notify } from "../../common/notices.tsx";
import { Empty } from "../../common/states.tsx";
import { Code, State, Time } from "../../common/values.tsx";
import { SettingsPage } from "../frame/SectionPage.tsx";
import { CreateApiKey } from "./CreateApiKey.tsx";
import { OwnersOnly } from "./OwnersOnly.tsx";
import { useOwnedScopes, useScopeName } from "./scopes.ts";

type Key = Answer<"GET /api-keys">["items"][number];

const stateOf = ({ revokedAt, expiresAt }: Key) =>
  revokedAt !== null ? "revoked" : expiresAt !== null && expiresAt <= Date.now() ? "expiredKey" : "active";

export default function ApiKeys() {
  const isOwner = useOwnedScopes().length > 0;
  const session = useSession();
  return (
    <SettingsPage tab="api-keys">
      {isOwner || !session.data ? (
        <ApiKeyList />
      ) : (
        <OwnersOnly title="Only owners can create API keys">
          Programs use an API key to read or change what you see here. Ask an owner of this site for one.
        </OwnersOnly>
      )}
    </SettingsPage>
  );
}

function ApiKeyList() {
  const { data, error, refetch } = useApi("GET /api-keys", {});
  const scopeName = useScopeName();
  const [created, setCreated] = useState<string | null>(null);
  const [showAll, setShowAll] = useState(false);
  const rows = showAll ? data?.items : data?.items.filter((key) => stateOf(key) === "active");
  const hasInactive = data?.items.some((key) => stateOf(key) !== "active") ?? false;
  const url = useSession().data?.installation.url ?? location.origin;
  const create = <CreateApiKey onCreated={setCreated} />;
  const columns: Column<Key>[] = [
    {
      title: "Name",
      cell: ({ name, prefix }) => (
        <>
          <Text size="sm" fw={500}>
            {name}
          </Text>
          <span className="cc-mono cc-quiet">{prefix}…</span>
        </>
      ),
    },
    { title: "Site", cell: ({ site }) => scopeName(site), wide: true },
    { title: "Scopes", cell: ({ scopes }) => scopes.join(", ") },
    { title: "State", cell: (key) => <State of={stateOf(key)} />, wide: true },
    { title: "Last used", cell: ({ lastUsedAt }) => <Time at={lastUsedAt} />, wide: true },
    { title: "Uses in 24 h", align: "right", cell: ({ uses24h }) => countText(uses24h), wide: true },
    { title: "Expires", cell: ({ expiresAt }) => <Time at={expiresAt} />, wide: true },
    { title: "", align: "right", cell: (key) => stateOf(key) === "active" && <Revoke row={key} /> },
  ];
  return (
    <Card
      title="API Keys"
      about={
        <>
          For programs that use the management API, which can do everything that this dashboard does.{" "}
          <Anchor href="/api/reference" target="_blank" rel="noopener" size="sm" underline="always">
            API reference
          </Anchor>
          <br />
          They cannot send events: /__cc/inbound answers 401 to them. Use an inbound key for that.
        </>
      }
      actions={create}
      padded={false}
    >
      <Rows
        label="API Keys"
        columns={columns}
        rows={rows}
        keyOf={({ id }) => id}
        error={error}
        onRetry={() => void refetch()}
        empty={
          <Empty icon={KeySquare} title="No API keys yet" action={create}>
            Create one for a report, a script or another tool that reads or changes data here.
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
      <OneTimeSecret title="Your API key" secret={created} onClose={() => setCreated(null)}>
        <Text size="sm">Try it from a terminal:</Text>
        <Code label="command">{`curl ${url}/api/v1/sites \\\n  -H 'Authorization: Bearer ${created ?? ""}'`}</Code>
      </OneTimeSecret>
    </Card>
  );
}

function Revoke({ row }: { row: Key }) {
  const made = row.inboundKeys;
  const [keeps, setKeeps] = useState(false);
  const revoke = useSend("DELETE /api-keys/:key", { onDone: () => notify(`${row.name} revoked.`) });
  return (
    <ConfirmButton
      label="Revoke"
      size="compact-sm"
      question={`Revoke ${row.name}?`}
      consequence={
        <>
          Programs that use {row.prefix}… get 401 within two seconds. This cannot be undone.
          {made.length > 0 && (
            <>
              <Text size="sm" mt="sm">
                {countText(made.length)} inbound {made.length === 1 ? "key was" : "keys were"} created with
                it:
              </Text>
              <List size="sm" mb="sm">
                {made.map(({ id, name }) => (
                  <List.Item key={id}>
                    {name} <span className="cc-mono cc-quiet">{id}</span>
                  </List.Item>
                ))}
              </List>
              <Checkbox
                label="Revoke them too"
                description="Leave them valid only if you trust the program that created them."
                checked={!keeps}
                onChange={(event) => setKeeps(!event.currentTarget.checked)}
              />
            </>
          )}
        </>
      }
      confirm="Revoke"
      onConfirm={() =>
        revoke.mutateAsync({ params: { key: row.id }, query: { inboundKeys: keeps ? "keep" : "revoke" } })
      }
      isBusy={revoke.isPending}
      error={revoke.error}
    />
  );
}
