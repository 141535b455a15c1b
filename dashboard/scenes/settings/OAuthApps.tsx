// The installation's registrations at platforms: with one, people connect by signing in.

import { Group, Text } from "@mantine/core";
import { Plug } from "lucide-react";
import type { Answer } from "../../common/api.ts";
import { AskButton } from "../../common/dialogs.tsx";
import { told } from "../../common/notices.tsx";
import { Card } from "../../common/Page.tsx";
import { usePlatformName } from "../../common/platforms.ts";
import { useApi, useSend } from "../../common/query.ts";
import { Rows, type Column } from "../../common/Rows.tsx";
import { useMay, useSession } from "../../common/session.tsx";
import { Empty } from "../../common/states.tsx";
import { Code, Id, State, When } from "../../common/values.tsx";
import { OAuthAppForm } from "./OAuthAppForm.tsx";
import { OwnersOnly } from "./OwnersOnly.tsx";
import { SettingsPage } from "./SettingsPage.tsx";

type App = Answer<"GET /oauth-apps">["items"][number];

export default function OAuthApps() {
  const isOwner = useMay("owner", null);
  const { data } = useSession();
  return (
    <SettingsPage tab="oauth-apps">
      {isOwner && <Apps />}
      {!isOwner && data && (
        <OwnersOnly title="Owners of the installation register apps">
          With an app that is registered at a platform, you connect it by signing in there instead of pasting
          a token. It holds for all sites.
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
      cell: ({ clientId }) => (
        <State of={clientId ? "on" : "off"} word={clientId ? "registered" : "not registered"} />
      ),
    },
    {
      title: "Client id",
      cell: ({ clientId }) => (clientId ? <Id value={clientId} label="client id" short={false} /> : "–"),
      wide: true,
    },
    { title: "Changed", cell: ({ updatedAt }) => <When at={updatedAt} />, wide: true },
    { title: "", align: "right", cell: (app) => <Actions app={app} name={nameOf(app.platform)} /> },
  ];
  return (
    <>
      <Card
        title="Redirect address"
        about="Each platform asks for it when you register an app there. It must be entered exactly so."
      >
        <Code label="redirect address">{data?.redirectUri ?? "…"}</Code>
      </Card>
      <Card
        title="OAuth apps"
        about="With an app that is registered at a platform, people connect it by signing in there. It holds for all sites."
        padded={false}
      >
        <Rows
          label="OAuth apps"
          columns={columns}
          rows={data?.items}
          keyOf={({ platform }) => platform}
          error={error}
          again={() => void refetch()}
          empty={<Empty icon={Plug} title="No platform has a sign-in" />}
        />
      </Card>
    </>
  );
}

function Actions({ app, name }: { app: App; name: string }) {
  const remove = useSend("DELETE /oauth-apps/:platform", {
    onDone: () => told(`The app at ${name} is forgotten.`),
  });
  return (
    <Group gap={4} justify="flex-end" wrap="nowrap">
      <OAuthAppForm platform={app.platform} name={name} clientId={app.clientId} />
      {app.clientId && (
        <AskButton
          label="Remove"
          size="compact-sm"
          question={`Forget the app at ${name}?`}
          consequence={
            <Text size="sm">
              Nobody can connect {name} by signing in any more, and access tokens that end cannot be renewed:
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
