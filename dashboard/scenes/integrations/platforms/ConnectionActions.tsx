// Actions on a connection: pause, resume, disconnect, reconnect.

import { Alert, Button, Group, Text } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { Pause, Play, TriangleAlert, Unplug } from "lucide-react";
import { useSend } from "../../../common/api/query.ts";
import { ConfirmButton } from "../../../common/dialogs.tsx";
import { countText, counted } from "../../../common/format/format.ts";
import { notify } from "../../../common/notices.tsx";
import { RequestError } from "../../../common/states.tsx";
import { withFullStop, type Connection, type Platform } from "../connections.tsx";
import { useSignIn } from "./SignInBox.tsx";
import type { Editor } from "./editor.ts";

/** Returns how many parked deliveries are sent, as a sentence. */
export const releasedText = (n: number) =>
  n === 0 ? "" : ` ${counted(n, "parked delivery is", "parked deliveries are")} sent now.`;

export function ConnectionActions({
  site,
  platform,
  connection,
}: {
  site: string;
  platform: Platform;
  connection: Connection;
}) {
  const navigate = useNavigate();
  const params = { site, connection: connection.id };
  const resume = useSend("POST /sites/:site/connections/:connection/resume", {
    onDone: ({ released }) => notify(`${platform.name} resumed.${releasedText(released)}`),
  });
  const pause = useSend("POST /sites/:site/connections/:connection/pause", {
    onDone: () =>
      notify(`${platform.name} paused. Conversions wait until it is resumed.`, () =>
        resume.mutate({ params }),
      ),
  });
  const remove = useSend("DELETE /sites/:site/connections/:connection", {
    onDone: () => {
      notify(`${platform.name} disconnected.`);
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
          Pause
        </Button>
      )}
      {connection.state === "paused" && (
        <Button
          leftSection={<Play size={15} aria-hidden />}
          loading={resume.isPending}
          onClick={() => resume.mutate({ params })}
        >
          Resume
        </Button>
      )}
      <ConfirmButton
        label="Disconnect"
        question={`Disconnect ${platform.name}?`}
        consequence={
          <>
            New conversions are no longer sent to {platform.name}.{" "}
            {connection.waiting > 0
              ? `Waiting deliveries (${countText(connection.waiting)}) are not sent. `
              : "No deliveries are waiting. "}
            Its credentials are deleted; its history in the sync log is kept.
          </>
        }
        confirm="Disconnect"
        icon={<Unplug size={15} aria-hidden />}
        onConfirm={() => remove.mutateAsync({ params })}
        isBusy={remove.isPending}
        error={remove.error}
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
      title={`${platform.name} needs reconnection`}
    >
      <Group justify="space-between" gap="md">
        <Text size="sm" style={{ flex: 1, minWidth: 200 }}>
          {connection.stateReason ? `${withFullStop(connection.stateReason)} ` : ""}
          {connection.waiting > 0
            ? `${counted(connection.waiting, "delivery waits", "deliveries wait")} and will be sent after reconnection.`
            : "Conversions wait until then; none are lost."}
        </Text>
        {mayChange && (
          <Button color="red" loading={canSignIn && isBusy} onClick={canSignIn ? begin : onPaste}>
            Reconnect
          </Button>
        )}
      </Group>
      <RequestError error={error} />
    </Alert>
  );
}
