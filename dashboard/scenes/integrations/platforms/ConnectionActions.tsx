// Actions on a connection: pause, resume, disconnect, reconnect.

import { Alert, Button, Group, Text } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { Pause, Play, TriangleAlert, Unplug } from "lucide-react";
import { useSend } from "../../../common/api/query.ts";
import { ConfirmButton } from "../../../common/dialogs.tsx";

import { countText } from "../../../common/format/numbers.ts";
import { notify } from "../../../common/notices.tsx";
import { RequestError } from "../../../common/states.tsx";
import { sentence } from "../../../common/format/sentence.ts";
import type { Connection, Platform } from "../connections.tsx";
import { useSignIn } from "./SignInBox.tsx";
import type { Editor } from "./editor.ts";
import { integrationsText } from "../../../messages/integrations.ts";
import { serverText } from "../../../messages/server.ts";

/** Adds how many parked deliveries are sent now. */
export const withReleased = (text: string, count: number): string =>
  count === 0 ? text : `${text} ${integrationsText.actions.released(count)}`;

export function ConnectionActions({ site, platform, connection }: { site: string; platform: Platform; connection: Connection }) {
  const navigate = useNavigate();
  const params = { site, connection: connection.id };
  const resume = useSend("POST /sites/:site/connections/:connection/resume", {
    onDone: ({ released }) => notify(withReleased(integrationsText.actions.resumed(platform.name), released)),
  });
  const pause = useSend("POST /sites/:site/connections/:connection/pause", {
    onDone: () => notify(integrationsText.actions.paused(platform.name), () => resume.mutate({ params })),
  });
  const remove = useSend("DELETE /sites/:site/connections/:connection", {
    onDone: () => {
      notify(integrationsText.actions.disconnected(platform.name));
      void navigate({ to: `/sites/${site}/integrations` });
    },
  });
  return (
    <>
      {connection.state === "active" && (
        <Button
          variant="default"
          leftSection={<Pause size={15} aria-hidden />}
          loading={pause.isPending}
          onClick={() => pause.mutate({ params })}
        >
          {integrationsText.actions.pause}
        </Button>
      )}
      {connection.state === "paused" && (
        <Button leftSection={<Play size={15} aria-hidden />} loading={resume.isPending} onClick={() => resume.mutate({ params })}>
          {integrationsText.actions.resume}
        </Button>
      )}
      <ConfirmButton
        label={integrationsText.actions.disconnect}
        question={integrationsText.actions.disconnectQuestion(platform.name)}
        consequence={[
          integrationsText.actions.noMore(platform.name),
          connection.waiting > 0
            ? integrationsText.actions.waitingLost(countText(connection.waiting))
            : integrationsText.actions.noneWaiting,
          integrationsText.actions.credentials,
        ].join(" ")}
        confirm={integrationsText.actions.disconnect}
        icon={<Unplug size={15} aria-hidden />}
        onConfirm={() => remove.mutateAsync({ params })}
        of={remove}
      />
      <RequestError error={pause.error ?? resume.error} />
    </>
  );
}

/** Shown on every tab while the platform refuses the credentials. */
export function NeedsReconnection({ editor, onPaste }: { editor: Editor; onPaste: () => void }) {
  const { platform, connection, mayChange, signIn } = editor;
  const { begin, isBusy, error } = useSignIn(editor);
  // After signing in again, only saving is left.
  if (connection?.state !== "needs reconnection" || signIn !== null) return null;
  const canSignIn = platform.signIn?.ready === true;
  return (
    <Alert
      variant="light"
      color="red"
      icon={<TriangleAlert size={18} />}
      title={integrationsText.actions.needsReconnection(platform.name)}
    >
      <Group justify="space-between" gap="md">
        <Text size="sm" style={{ flex: 1, minWidth: 200 }}>
          {connection.stateReason ? `${sentence(serverText(connection.stateReason))} ` : ""}
          {connection.waiting > 0 ? integrationsText.actions.waiting(connection.waiting) : integrationsText.actions.noneLost}
        </Text>
        {mayChange && (
          <Button color="red" loading={canSignIn && isBusy} onClick={canSignIn ? begin : onPaste}>
            {integrationsText.page.reconnect}
          </Button>
        )}
      </Group>
      <RequestError error={error} />
    </Alert>
  );
}
