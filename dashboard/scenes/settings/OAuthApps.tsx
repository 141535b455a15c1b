// The installation's OAuth apps. With an app for a platform, people connect by signing in there.

import { Group } from "@mantine/core";
import { Plug } from "lucide-react";
import { Actions } from "../../common/Actions.tsx";
import { Card } from "../../common/Page.tsx";
import type { Answer } from "../../common/api/api.ts";
import { usePlatformName } from "../../common/api/platforms.ts";
import { PlatformName } from "../../common/platforms/PlatformMark.tsx";
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
import { settingsText } from "../../messages/settings.ts";

type App = Answer<"GET /oauth-apps">["items"][number];

export default function OAuthApps() {
  const isOwner = useMay("owner", null);
  const { data } = useSession();
  return (
    <SettingsPage tab="oauth-apps">
      {isOwner && <Apps />}
      {!isOwner && data && <OwnersOnly title={settingsText.oauthApps.ownersOnly}>{settingsText.oauthApps.about}</OwnersOnly>}
    </SettingsPage>
  );
}

function Apps() {
  const { data, error, refetch } = useApi("GET /oauth-apps", {});
  const nameOf = usePlatformName();
  const columns: Column<App>[] = [
    {
      title: settingsText.oauthApps.columns.platform,
      cell: ({ platform }) => <PlatformName id={platform} />,
    },
    {
      title: settingsText.oauthApps.columns.state,
      cell: ({ clientId, readable }) =>
        readable ? (
          <State
            of={clientId ? "on" : "off"}
            word={clientId ? settingsText.oauthApps.registered : settingsText.oauthApps.notRegistered}
          />
        ) : (
          <State of="unreadable" word={settingsText.oauthApps.unreadable} />
        ),
    },
    {
      title: settingsText.oauthApps.columns.clientId,
      cell: ({ clientId }) => (clientId ? <Id value={clientId} label={settingsText.oauthApps.copyClientId} /> : "–"),
      wide: true,
    },
    {
      title: settingsText.oauthApps.columns.changed,
      cell: ({ updatedAt }) => <Time at={updatedAt} />,
      wide: true,
    },
    {
      title: settingsText.oauthApps.columns.actions,
      align: "right",
      cell: (app) => <AppActions app={app} name={nameOf(app.platform)} />,
    },
  ];
  return (
    <>
      <Card title={settingsText.oauthApps.redirect} about={settingsText.oauthApps.aboutRedirect}>
        <Code label={settingsText.oauthApps.redirect}>{data?.redirectUri ?? "…"}</Code>
      </Card>
      <Card title={settingsText.oauthApps.title} about={settingsText.oauthApps.about} padded={false}>
        <Rows
          label={settingsText.oauthApps.title}
          columns={columns}
          rows={data?.items}
          keyOf={({ platform }) => platform}
          error={error}
          onRetry={() => void refetch()}
          empty={<Empty icon={Plug} title={settingsText.oauthApps.none} />}
        />
      </Card>
    </>
  );
}

function AppActions({ app, name }: { app: App; name: string }) {
  const remove = useSend("DELETE /oauth-apps/:platform", {
    onDone: () => notify(settingsText.oauthApps.removed(name)),
  });
  return (
    <Group justify="flex-end">
      <Actions>
        <OAuthAppForm platform={app.platform} name={name} clientId={app.clientId} />
        {app.clientId && (
          <ConfirmButton
            label={settingsText.remove}
            size="compact-sm"
            question={settingsText.oauthApps.removeQuestion(name)}
            consequence={settingsText.oauthApps.removeConsequence(name)}
            confirm={settingsText.remove}
            onConfirm={() => remove.mutateAsync({ params: { platform: app.platform } })}
            of={remove}
          />
        )}
      </Actions>
    </Group>
  );
}
