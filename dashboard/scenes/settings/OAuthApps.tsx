// The installation's OAuth apps. With an app for a platform, people connect by signing in there.

import { Group, Text } from "@mantine/core";
import { Plug } from "lucide-react";
import { Card } from "../../common/Page.tsx";
import type { Answer } from "../../common/api/api.ts";
import { usePlatformName } from "../../common/api/platforms.ts";
import { useApi, useSend } from "../../common/api/query.ts";
import { useMay, useSession } from "../../common/api/session.ts";
import { ConfirmButton } from "../../common/dialogs.tsx";
import { Rows, type Column } from "../../common/lists/Rows.tsx";
import { notify } from "../../common/notices.tsx";
import { Empty } from "../../common/states.tsx";
import { Code, Id, State, Time } from "../../common/values.tsx";
import { SettingsPage } from "../frame/SectionPage.tsx";
import { OAuthAppForm } from "./OAuthAppForm.tsx";
import { OwnersOnly } from "./OwnersOnly.tsx";

type App = Answer<"GET /oauth-apps">["items"][number];

export default function OAuthApps() {
  const isOwner = useMay("owner", null);
  const { data } = useSession();
  return (
    <SettingsPage tab="oauth-apps">
      {isOwner && <Apps />}
      {!isOwner && data && (
        <OwnersOnly title="Only owners of the installation can manage OAuth apps">
          With an OAuth app registered at a platform, people connect by signing in there instead of pasting a
          token. It applies to all sites.
        </OwnersOnly>
      )}
    </SettingsPage>
  );
}

function Apps() {
  const { data, error, refetch } = useApi("GET /oauth-apps", {});
  const nameOf = usePlatformName();
  const columns: Column<App>[] = [
    { title: "Platform", cell: ({ platform }) => nameOf(platform) },
    {
      title: "State",
      cell: ({ clientId, readable }) =>
        readable ? (
          <State of={clientId ? "on" : "off"} word={clientId ? "registered" : "not registered"} />
        ) : (
          <State of="unreadable" word="cannot be read: register it again" />
        ),
    },
    {
      title: "Client id",
      cell: ({ clientId }) => (clientId ? <Id value={clientId} label="client id" short={false} /> : "–"),
      wide: true,
    },
    { title: "Changed", cell: ({ updatedAt }) => <Time at={updatedAt} />, wide: true },
    { title: "", align: "right", cell: (app) => <Actions app={app} name={nameOf(app.platform)} /> },
  ];
  return (
    <>
      <Card
        title="Redirect address"
        about="Platforms ask for it when you register an app. Enter it exactly as shown."
      >
        <Code label="redirect address">{data?.redirectUri ?? "…"}</Code>
      </Card>
      <Card
        title="OAuth apps"
        about="With an OAuth app registered at a platform, people connect by signing in there instead of pasting a token. It applies to all sites."
        padded={false}
      >
        <Rows
          label="OAuth apps"
          columns={columns}
          rows={data?.items}
          keyOf={({ platform }) => platform}
          error={error}
          onRetry={() => void refetch()}
          empty={<Empty icon={Plug} title="No platform supports sign-in" />}
        />
      </Card>
    </>
  );
}

function Actions({ app, name }: { app: App; name: string }) {
  const remove = useSend("DELETE /oauth-apps/:platform", {
    onDone: () => notify(`OAuth app for ${name} removed.`),
  });
  return (
    <Group gap={4} justify="flex-end" wrap="nowrap">
      <OAuthAppForm platform={app.platform} name={name} clientId={app.clientId} />
      {app.clientId && (
        <ConfirmButton
          label="Remove"
          size="compact-sm"
          question={`Remove the OAuth app for ${name}?`}
          consequence={
            <Text size="sm">
              Signing in to {name} is no longer possible, and expired access tokens cannot be renewed:
              connections that use it will need reconnection.
            </Text>
          }
          confirm="Remove"
          onConfirm={() => remove.mutateAsync({ params: { platform: app.platform } })}
          isBusy={remove.isPending}
          error={remove.error}
        />
      )}
    </Group>
  );
}
