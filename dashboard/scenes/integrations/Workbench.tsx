// One connection on the bench: the tabs work on the same draft, the preview shows it, one button saves it.

import { Grid, Group, Stack, Text } from "@mantine/core";
import { Outlet, useNavigate } from "@tanstack/react-router";
import { useState, type ReactNode } from "react";
import { flushSync } from "react-dom";
import { useAddress } from "../../common/address.ts";
import type { Answer, ApiError } from "../../common/api.ts";
import { told } from "../../common/notices.tsx";
import { Card, Page } from "../../common/Page.tsx";
import { useSend } from "../../common/query.ts";
import { useMay } from "../../common/session.tsx";
import { State, When } from "../../common/values.tsx";
import type { Bench } from "./bench.ts";
import { ConnectionActions, NeedsReconnection, releasedText } from "./ConnectionActions.tsx";
import { letGo, tabOfFault, useDraft, type Changes } from "./draft.ts";
import { EventsForm } from "./EventsForm.tsx";
import { LogTable } from "./LogTable.tsx";
import { MappingForm } from "./MappingForm.tsx";
import { ConnectionState, type Connection, type Platform } from "./parts.tsx";
import { Preview } from "./Preview.tsx";
import { SaveBar } from "./SaveBar.tsx";
import { SettingsForm } from "./SettingsForm.tsx";
import { useSignInStep } from "./signIn.ts";
import { TestEvent } from "./TestEvent.tsx";

const tabs = [
  { value: "connection", label: "Connection" },
  { value: "events", label: "Events" },
  { value: "mapping", label: "Field mapping" },
  { value: "test", label: "Test event" },
  { value: "log", label: "Sync log" },
];

export function Workbench({
  site,
  platform,
  connection,
  signIn,
  begun,
  switcher,
}: {
  site: string;
  platform: Platform;
  connection: Connection | null;
  /** The sign-in that the address names; blank where there is none. */
  signIn: string;
  /** What was typed before the page was left for the sign-in. */
  begun: Changes;
  switcher: ReactNode;
}) {
  const { text, search } = useAddress();
  const navigate = useNavigate();
  const mayChange = useMay("admin", site);
  const draft = useDraft(platform, connection, begun);
  const [used, setUsed] = useState("");
  const step = useSignInStep(site, mayChange && signIn !== used ? signIn : "");
  const here = `/sites/${site}/integrations/${platform.id}`;
  const go = (part: Record<string, string | undefined>) =>
    void navigate({ to: here, search: { ...search, ...part }, replace: true });
  const save = useSave(platform, {
    onSaved: (id) => {
      // At once: a sign-in that was used up must not be asked for again.
      flushSync(() => {
        draft.discard();
        setUsed(signIn);
      });
      if (signIn) letGo(signIn);
      go({ connection: id, signIn: undefined });
    },
    onRefused: (error) => {
      const tab = tabOfFault(error, platform);
      if (tab) go({ tab });
    },
  });
  const bench: Bench = {
    site,
    platform,
    connection,
    draft,
    signIn: step.is === "done" ? signIn : null,
    mayChange,
    error: save.error,
  };
  const tab = tabs.find(({ value }) => value === text("tab"))?.value ?? "connection";
  const isForm = tab === "connection" || tab === "events" || tab === "mapping";
  const form = (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        save.run(bench);
      }}
    >
      <Stack gap="lg">
        <fieldset className="cc-bare" aria-label={`${platform.name} ${tab}`}>
          <Stack gap="lg">
            {tab === "connection" && <SettingsForm bench={bench} step={step} />}
            {tab === "events" && <EventsForm bench={bench} />}
            {tab === "mapping" && <MappingForm bench={bench} />}
          </Stack>
        </fieldset>
        <SaveBar bench={bench} isBusy={save.isBusy} onDiscard={draft.discard} />
      </Stack>
    </form>
  );
  return (
    <Page
      title={platform.name}
      back={{ to: `/sites/${site}/integrations`, label: "Platforms" }}
      about={<Head platform={platform} connection={connection} />}
      actions={
        <>
          {switcher}
          {connection && mayChange && (
            <ConnectionActions site={site} platform={platform} connection={connection} />
          )}
        </>
      }
      tabs={tabs.map((one) => ({ ...one, to: here, search: { ...search, tab: one.value } }))}
      tab={tab}
    >
      <NeedsReconnection bench={bench} onPaste={() => go({ tab: "connection" })} />
      {isForm &&
        (mayChange ? (
          <Grid gap="lg">
            <Grid.Col span={{ base: 12, md: 7 }}>{form}</Grid.Col>
            <Grid.Col span={{ base: 12, md: 5 }}>
              <div className="cc-beside">
                <Preview bench={bench} />
              </div>
            </Grid.Col>
          </Grid>
        ) : (
          form
        ))}
      {tab === "test" && <TestEvent bench={bench} />}
      {tab === "log" &&
        (connection ? (
          <LogTable site={site} fixed={{ connection: connection.id }} />
        ) : (
          <Card>
            <Text size="sm" c="dimmed">
              Deliveries to {platform.name} show here once it is connected.
            </Text>
          </Card>
        ))}
      <Outlet />
    </Page>
  );
}

function Head({ platform, connection }: { platform: Platform; connection: Connection | null }) {
  return (
    <Stack gap={8}>
      <span>{platform.description}</span>
      <Group gap="md">
        {connection ? <ConnectionState connection={connection} /> : <State of="not connected" />}
        {connection && (
          <Text size="sm" component="span">
            {connection.lastSentAt === null ? "nothing sent yet" : "last sent "}
            {connection.lastSentAt !== null && <When at={connection.lastSentAt} />}
          </Text>
        )}
      </Group>
    </Stack>
  );
}

/** A new connection is made, a known one changed. */
function useSave(
  { name }: Platform,
  { onSaved, onRefused }: { onSaved: (connection: string) => void; onRefused: (error: ApiError) => void },
) {
  const connect = useSend("POST /sites/:site/connections", {
    onDone: ({ connection, isNew, released }: Answer<"POST /sites/:site/connections">) => {
      const what = isNew ? `${name} is connected.` : "This account was connected before; it was changed.";
      told(what + releasedText(released));
      onSaved(connection.id);
    },
  });
  const change = useSend("PATCH /sites/:site/connections/:connection", {
    onDone: ({ connection, released }) => {
      told(`Saved.${releasedText(released)}`);
      onSaved(connection.id);
    },
  });
  return {
    isBusy: connect.isPending || change.isPending,
    error: connect.error ?? change.error,
    run: ({ site, platform, connection, draft, signIn }: Bench) => {
      const wanted = {
        settings: draft.changes,
        ...(draft.events === undefined ? {} : { events: draft.events }),
        ...(signIn ? { signIn } : {}),
      };
      const onError = { onError: onRefused };
      if (connection) change.mutate({ params: { site, connection: connection.id }, body: wanted }, onError);
      else connect.mutate({ params: { site }, body: { platform: platform.id, ...wanted } }, onError);
    },
  };
}
