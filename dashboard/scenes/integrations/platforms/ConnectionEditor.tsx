// The editor of one connection: all tabs change one draft, the preview shows it, one button saves it.

import { Box, Button, Fieldset, Grid, Group, Stack, Text } from "@mantine/core";
import { Form } from "../../../common/Form.tsx";
import { Outlet, useNavigate } from "@tanstack/react-router";
import { useState, type ReactNode } from "react";
import { flushSync } from "react-dom";
import { Card, Page } from "../../../common/Page.tsx";
import type { Answer, ApiError } from "../../../common/api/api.ts";
import { useSend } from "../../../common/api/query.ts";
import { PlatformMark } from "../../../common/platforms/PlatformMark.tsx";
import { useMay } from "../../../common/api/session.ts";
import { SaveBar } from "../../../common/forms/SaveBar.tsx";
import { WhatIfButton } from "../../../common/settings/WhatIf.tsx";
import { useFaults } from "../../../common/forms/useForm.ts";
import { Actions } from "../../../common/Actions.tsx";
import { useQueryParams } from "../../../common/lists/queryParams.ts";
import { notify } from "../../../common/notices.tsx";
import { State, Time } from "../../../common/values.tsx";
import { ConnectionState, type Connection, type Platform } from "../connections.tsx";
import { LogTable } from "../syncLog/LogTable.tsx";
import { ConnectionActions, NeedsReconnection, withReleased } from "./ConnectionActions.tsx";
import { Backfill } from "./Backfill.tsx";
import { EventsForm } from "./events/EventsForm.tsx";
import { MappingForm } from "./MappingForm.tsx";
import { Performance } from "../quality/Performance.tsx";
import { Preview } from "./Preview.tsx";
import { VerificationNotice, savedText } from "./VerificationNotice.tsx";
import { SettingsForm } from "./SettingsForm.tsx";
import { TestEvent } from "./TestEvent.tsx";
import { settingOf, tabOf, useDraft, withLabels, type Editor, type Changes } from "./editor.ts";
import { deleteInput, useSignInStep } from "./signIn.ts";
import { integrationsText } from "../../../messages/integrations.ts";
import { commonText } from "../../../messages/common.ts";
import { RichText } from "../../../common/format/RichText.tsx";
import { serverText } from "../../../messages/server.ts";

const tabs = ["connection", "events", "mapping", "test", "backfill", "performance", "log"] as const;

export function ConnectionEditor({
  site,
  platform,
  connection,
  signIn,
  initial,
  onSecret,
  switcher,
  onConnected,
}: {
  site: string;
  platform: Platform;
  connection: Connection | null;
  /** The sign-in in the URL; empty if there is none. */
  signIn: string;
  /** Input from before the page was left for the sign-in. */
  initial: Changes;
  /** Shows a signing secret that was created with the connection. */
  onSecret: (secret: string) => void;
  switcher: ReactNode;
  /** Called with the id of a connection that is new. */
  onConnected: (connection: string) => void;
}) {
  const { text, search } = useQueryParams();
  const navigate = useNavigate();
  const mayChange = useMay("admin", site);
  const draft = useDraft(platform, connection, initial);
  const [usedSignIn, setUsedSignIn] = useState("");
  const step = useSignInStep(site, mayChange && signIn !== usedSignIn ? signIn : "");
  const path = `/sites/${site}/integrations/${platform.id}`;
  const go = (part: Record<string, string | undefined>) =>
    void navigate({ to: path, search: { ...search, ...part }, replace: true });
  const save = useSave(platform, {
    onSecret,
    onConnected,
    onSaved: (id) => {
      // Synchronous, so that the used sign-in is not requested again.
      flushSync(() => {
        draft.discard();
        setUsedSignIn(signIn);
      });
      if (signIn) deleteInput(signIn);
      go({ connection: id, signIn: undefined });
    },
    onRefused: (error) => {
      const names = error.faults.map(({ field }) => settingOf(field));
      const wanted = names.map((name) => tabOf(name, platform)).find((one) => one !== null);
      // The tab is drawn before its first field with an error gets the focus.
      if (wanted && wanted !== tab) go({ tab: wanted });
      setFaults(error);
    },
  });
  const tab = tabs.find((one) => one === text("tab")) ?? "connection";
  const { faults, setFaults, element, error } = useFaults((field) =>
    tabOf(settingOf(field), platform) ? settingOf(field) : null,
  );
  const editor: Editor = {
    site,
    platform,
    connection,
    draft,
    signIn: step.is === "done" ? signIn : null,
    mayChange,
    fault: (name) => {
      const fault = faults[name];
      return fault === undefined ? null : withLabels(fault, platform);
    },
  };
  const isForm = tab === "connection" || tab === "events" || tab === "mapping";
  const form = (
    <Form ref={element} noValidate onSubmit={() => save.run(editor)} className={mayChange ? undefined : "cc-readonly"}>
      <Stack gap="lg">
        <Fieldset
          variant="unstyled"
          mx={0}
          aria-label={integrationsText.page.form(platform.name, integrationsText.page.tabs[tab])}
        >
          <Stack gap="lg">
            {tab === "connection" && <SettingsForm editor={editor} step={step} />}
            {tab === "events" && <EventsForm editor={editor} />}
            {tab === "mapping" && <MappingForm editor={editor} />}
          </Stack>
        </Fieldset>
        <ConnectBar
          editor={editor}
          save={save}
          error={error(save.error)}
          onDiscard={() => {
            draft.discard();
            setFaults(null);
          }}
        />
      </Stack>
    </Form>
  );
  return (
    <Page
      title={platform.name}
      mark={<PlatformMark id={platform.id} size={24} />}
      back={{ to: `/sites/${site}/integrations`, label: integrationsText.tabs.platforms }}
      about={<Header platform={platform} connection={connection} />}
      actions={
        <>
          {switcher}
          {connection && mayChange && (
            <Actions>
              <ConnectionActions site={site} platform={platform} connection={connection} />
            </Actions>
          )}
        </>
      }
      tabs={tabs.map((one) => ({
        value: one,
        label: integrationsText.page.tabs[one],
        to: path,
        search: { ...search, tab: one },
      }))}
      tab={tab}
    >
      <NeedsReconnection editor={editor} onPaste={() => go({ tab: "connection" })} />
      <VerificationNotice editor={editor} />
      {isForm &&
        (mayChange ? (
          <Grid gap="lg">
            <Grid.Col span={{ base: 12, md: 7 }}>{form}</Grid.Col>
            <Grid.Col span={{ base: 12, md: 5 }}>
              <Box
                pos={{ base: "static", md: "sticky" }}
                top={24}
                mah={{ md: "calc(100vh - 48px)" }}
                style={{ overflowY: "auto" }}
              >
                <Preview editor={editor} />
              </Box>
            </Grid.Col>
          </Grid>
        ) : (
          form
        ))}
      {tab === "test" && <TestEvent editor={editor} />}
      {tab === "backfill" && <Backfill editor={editor} />}
      {tab === "performance" && <Performance site={site} platform={platform} connection={connection} />}
      {tab === "log" &&
        (connection ? (
          <LogTable site={site} fixed={{ connection: connection.id }} />
        ) : (
          <Card>
            <Text size="sm" c="dimmed">
              {integrationsText.page.logAfterConnecting(platform.name)}
            </Text>
          </Card>
        ))}
      <Outlet />
    </Page>
  );
}

function Header({ platform, connection }: { platform: Platform; connection: Connection | null }) {
  return (
    <Stack gap={8}>
      <span>{platform.description}</span>
      <Group gap="md">
        {connection ? <ConnectionState connection={connection} /> : <State of="not connected" />}
        {connection && (
          <Text size="sm" component="span">
            {connection.lastSentAt === null ? (
              integrationsText.page.nothingSent
            ) : (
              <RichText text={integrationsText.page.lastSent} tags={{ time: () => <Time at={connection.lastSentAt} /> }} />
            )}
          </Text>
        )}
      </Group>
      {connection && <Verified platform={platform} connection={connection} />}
    </Stack>
  );
}

function Verified({ platform, connection: { verification } }: { platform: Platform; connection: Connection }) {
  if (verification.state !== "verified") return null;
  // What a check leaves out is a setting, several, or a few words.
  const setting = platform.settings.find(({ name }) => name === verification.unchecked);
  return (
    <Text size="xs" component="span">
      <RichText
        text={
          verification.unchecked === null
            ? integrationsText.page.verified
            : integrationsText.page.verifiedExcept(setting?.label ?? withLabels(serverText(verification.unchecked), platform))
        }
        tags={{ time: () => <Time at={verification.verifiedAt} /> }}
      />
    </Text>
  );
}

/** Creates a connection, or changes the existing one. */
function useSave(
  { name }: Platform,
  on: {
    onSecret: (secret: string) => void;
    onConnected: (connection: string) => void;
    onSaved: (connection: string) => void;
    onRefused: (error: ApiError) => void;
  },
) {
  const finish = (connection: string, newSecret: string | null) => {
    if (newSecret !== null) on.onSecret(newSecret);
    on.onSaved(connection);
  };
  const connect = useSend("POST /sites/:site/connections", {
    onDone: ({ connection, isNew, released, newSecret }: Answer<"POST /sites/:site/connections">) => {
      const { connected, savedOf, alreadyConnected } = integrationsText.page.done;
      const what = !isNew ? alreadyConnected : connection.verification.state === "verified" ? connected(name) : savedOf(name);
      notify(withReleased(savedText(what, connection), released));
      finish(connection.id, newSecret);
      // One dialog at a time: a secret is shown only once.
      // Nothing real goes to an account that the platform has not confirmed.
      if (isNew && newSecret === null && connection.verification.state === "verified") on.onConnected(connection.id);
    },
  });
  const change = useSend("PATCH /sites/:site/connections/:connection", {
    onDone: ({ connection, released, newSecret }) => {
      notify(withReleased(savedText(integrationsText.page.done.saved, connection), released));
      finish(connection.id, newSecret);
    },
  });
  return {
    isBusy: connect.isPending || change.isPending,
    error: connect.error ?? change.error,
    /** Without `verify`, also credentials that the platform refuses are saved. */
    run: ({ site, platform, connection, draft, signIn }: Editor, { verify = true } = {}) => {
      const wanted = {
        verify,
        settings: draft.changes,
        ...(draft.events === undefined ? {} : { events: draft.events }),
        ...(signIn ? { signIn } : {}),
      };
      const onError = { onError: on.onRefused };
      if (connection) change.mutate({ params: { site, connection: connection.id }, body: wanted }, onError);
      else connect.mutate({ params: { site }, body: { platform: platform.id, ...wanted } }, onError);
    },
  };
}

function ConnectBar({
  editor,
  save,
  error,
  onDiscard,
}: {
  editor: Editor;
  save: ReturnType<typeof useSave>;
  error: ApiError | null;
  onDiscard: () => void;
}) {
  const { platform, connection, draft, signIn, mayChange } = editor;
  const isChanged = draft.isChanged || signIn !== null;
  if (!mayChange)
    return (
      <Text size="sm" c="dimmed">
        {commonText.adminsOnly}
      </Text>
    );
  if (connection && !isChanged) return null;
  const isReconnecting = connection?.state === "needs reconnection";
  return (
    <SaveBar
      about={connection || draft.isChanged ? commonText.unsaved : integrationsText.page.notConnected}
      save={
        connection
          ? isReconnecting
            ? integrationsText.page.reconnect
            : commonText.save
          : integrationsText.page.connect(platform.name)
      }
      error={error}
      isPending={save.isBusy}
      onDiscard={draft.isChanged ? onDiscard : null}
    >
      {isChanged && (
        <WhatIfButton
          site={editor.site}
          changes={{
            connection: {
              ...(connection ? { id: connection.id } : { platform: platform.id }),
              settings: draft.changes,
              ...(draft.events === undefined ? {} : { events: draft.events }),
              ...(signIn ? { signIn } : {}),
            },
          }}
        />
      )}
      {/* The platform refused the credentials, which may be a mistake. */}
      {error?.code === "conflict" && (
        <Button variant="default" loading={save.isBusy} onClick={() => save.run(editor, { verify: false })}>
          {integrationsText.page.saveAnyway}
        </Button>
      )}
    </SaveBar>
  );
}
