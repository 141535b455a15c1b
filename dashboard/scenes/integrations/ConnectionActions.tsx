// What can be done with a whole connection: pause, resume, disconnect, reconnect.

import { Alert, Button, Group, Text } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { Pause, Play, TriangleAlert, Unplug } from "lucide-react";
import { AskButton } from "../../common/dialogs.tsx";
import { told } from "../../common/notices.tsx";
import { countText } from "../../common/format.ts";
import { useSend } from "../../common/query.ts";
import { Refused } from "../../common/states.tsx";
import type { Bench } from "./bench.ts";
import { countOf, sentence, type Connection, type Platform } from "./parts.tsx";
import { useSignIn } from "./SignInBox.tsx";

/** What becomes of deliveries that were parked. */
export const releasedText = (n: number) =>
  n === 0 ? "" : ` ${countOf(n, "parked delivery goes", "parked deliveries go")} out now.`;

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
    onDone: ({ released }) => told(`${platform.name} is sent to again.${releasedText(released)}`),
  });
  const pause = useSend("POST /sites/:site/connections/:connection/pause", {
    onDone: () =>
      told(`${platform.name} is paused. Conversions wait for it.`, () => resume.mutate({ params })),
  });
  const remove = useSend("DELETE /sites/:site/connections/:connection", {
    onDone: () => {
      told(`${platform.name} is disconnected.`);
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
      <AskButton
        label="Disconnect"
        question={`Disconnect ${platform.name}?`}
        consequence={
          <>
            New conversions do not go to {platform.name} any more.{" "}
            {connection.waiting > 0
              ? `What waits for it (${countText(connection.waiting)}) is not sent. `
              : "Nothing waits for it. "}
            Its credentials are removed; its history in the sync log stays.
          </>
        }
        confirm="Disconnect"
        icon={<Unplug size={15} aria-hidden />}
        onConfirm={() => remove.mutateAsync({ params })}
        isBusy={remove.isPending}
        error={remove.error}
      />
      <Refused error={pause.error ?? resume.error} />
    </>
  );
}

/** Above the tabs while the platform refuses the credentials. */
export function NeedsReconnection({ bench, onPaste }: { bench: Bench; onPaste: () => void }) {
  const { platform, connection, mayChange, signIn } = bench;
  const { begin, isBusy, error } = useSignIn(bench);
  // Who is signed in again only has to save.
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
          {connection.stateReason ? `${sentence(connection.stateReason)} ` : ""}
          {connection.waiting > 0
            ? `${countOf(connection.waiting, "delivery waits", "deliveries wait")} and go out after it.`
            : "Conversions wait until then; none is lost."}
        </Text>
        {mayChange && (
          <Button color="red" loading={canSignIn && isBusy} onClick={canSignIn ? begin : onPaste}>
            Reconnect
          </Button>
        )}
      </Group>
      <Refused error={error} />
    </Alert>
  );
}
