// Keys for the management API.

import { Anchor, Checkbox, List, Text } from "@mantine/core";
import { KeySquare } from "lucide-react";
import { useState } from "react";
import { Card } from "../../common/Page.tsx";
import type { Answer } from "../../common/api/api.ts";
import { useApi, useSend } from "../../common/api/query.ts";
import { useSession } from "../../common/api/session.ts";
import { ConfirmButton, OneTimeSecret } from "../../common/dialogs.tsx";
import { KeyTable } from "../../common/lists/KeyTable.tsx";
import { notify } from "../../common/notices.tsx";
import { Empty } from "../../common/states.tsx";
import { Code } from "../../common/values.tsx";
import { SettingsPage } from "../frame/SectionPage.tsx";
import { CreateApiKey } from "./CreateApiKey.tsx";
import { OwnersOnly } from "./OwnersOnly.tsx";
import { useOwnedScopes, useScopeName } from "./scopes.ts";
import { settingsText } from "../../messages/settings.ts";
import { RichText } from "../../common/format/RichText.tsx";

type Key = Answer<"GET /api-keys">["items"][number];

const stateOf = ({ revokedAt, expiresAt }: Key) =>
  revokedAt !== null ? "revoked" : expiresAt !== null && expiresAt <= Date.now() ? "expired" : "active";

export default function ApiKeys() {
  const isOwner = useOwnedScopes().length > 0;
  const session = useSession();
  return (
    <SettingsPage tab="api-keys">
      {isOwner || !session.data ? (
        <ApiKeyList />
      ) : (
        <OwnersOnly title={settingsText.apiKeys.ownersOnly}>{settingsText.apiKeys.aboutOwnersOnly}</OwnersOnly>
      )}
    </SettingsPage>
  );
}

function ApiKeyList() {
  const keys = useApi("GET /api-keys", {});
  const scopeName = useScopeName();
  const [created, setCreated] = useState<string | null>(null);
  const url = useSession().data?.installation.url ?? location.origin;
  const create = <CreateApiKey onCreated={setCreated} />;
  return (
    <Card
      title={settingsText.apiKeys.title}
      about={
        <>
          <RichText
            text={settingsText.apiKeys.about}
            tags={{
              link: (content) => (
                <Anchor href="/api/reference" target="_blank" rel="noopener" size="sm" underline="always">
                  {content}
                </Anchor>
              ),
            }}
          />
          <br />
          {settingsText.apiKeys.notForEvents}
        </>
      }
      actions={keys.data?.items.length ? create : null}
      padded={false}
    >
      <KeyTable
        of={keys}
        texts={settingsText.apiKeys}
        stateOf={stateOf}
        before={[
          {
            title: settingsText.apiKeys.columns.site,
            cell: ({ site }) => <div className="cc-name">{scopeName(site)}</div>,
            wide: true,
          },
          {
            title: settingsText.apiKeys.scopes,
            cell: ({ scopes }) => scopes.map((one) => settingsText.apiKeys.scopeNames[one]).join(", "),
          },
        ]}
        actions={(key) => <Revoke row={key} />}
        empty={
          <Empty icon={KeySquare} title={settingsText.apiKeys.emptyTitle} action={keys.data?.items.length === 0 && create}>
            {settingsText.apiKeys.empty}
          </Empty>
        }
      />
      <OneTimeSecret title={settingsText.apiKeys.secret} secret={created} onClose={() => setCreated(null)}>
        <Text size="sm">{settingsText.apiKeys.tryIt}</Text>
        <Code
          label={settingsText.apiKeys.command}
        >{`curl ${url}/api/v1/sites \\\n  -H 'Authorization: Bearer ${created ?? ""}'`}</Code>
      </OneTimeSecret>
    </Card>
  );
}

function Revoke({ row }: { row: Key }) {
  const made = row.inboundKeys;
  const [keeps, setKeeps] = useState(false);
  const revoke = useSend("DELETE /api-keys/:key", {
    onDone: () => notify(settingsText.apiKeys.revoked(row.name)),
  });
  return (
    <ConfirmButton
      label={settingsText.revoke}
      size="compact-sm"
      question={settingsText.apiKeys.revokeQuestion(row.name)}
      consequence={
        <>
          {settingsText.apiKeys.revokeConsequence(row.prefix)}
          {made.length > 0 && (
            <>
              <Text size="sm" mt="sm">
                {settingsText.apiKeys.inboundKeys(made.length)}
              </Text>
              <List size="sm" mb="sm">
                {made.map(({ id, name }) => (
                  <List.Item key={id}>
                    {name} <span className="cc-mono cc-quiet">{id}</span>
                  </List.Item>
                ))}
              </List>
              <Checkbox
                label={settingsText.apiKeys.revokeInbound}
                description={settingsText.apiKeys.aboutRevokeInbound}
                checked={!keeps}
                onChange={(event) => setKeeps(!event.currentTarget.checked)}
              />
            </>
          )}
        </>
      }
      confirm={settingsText.revoke}
      onConfirm={() => revoke.mutateAsync({ params: { key: row.id }, query: { inboundKeys: keeps ? "keep" : "revoke" } })}
      of={revoke}
    />
  );
}
