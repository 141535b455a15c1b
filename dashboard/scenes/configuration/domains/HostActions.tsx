// Check, pause, resume and remove a domain.

import { Button, Group, Stack } from "@mantine/core";
import { ConfirmButton } from "../../../common/dialogs.tsx";
import { notify } from "../../../common/notices.tsx";
import { useSend } from "../../../common/api/query.ts";
import { useSiteId } from "../../../common/api/session.ts";
import { RequestError } from "../../../common/states.tsx";
import type { Host } from "./Hosts.tsx";

export function HostActions({ host: { host, state }, isOnly }: { host: Host; isOnly: boolean }) {
  const params = { site: useSiteId(), host };
  const verify = useSend("POST /sites/:site/hosts/:host/verify", {
    onDone: ({ problem }) => notify(problem ? problem.what : `${host} points here.`),
  });
  const pause = useSend("POST /sites/:site/hosts/:host/pause", { onDone: () => notify(`${host} paused.`) });
  const resume = useSend("POST /sites/:site/hosts/:host/resume", {
    onDone: (resumed) =>
      notify(
        resumed.state === "waiting" ? `${host} is waiting for verification.` : `${host} is served again.`,
      ),
  });
  const remove = useSend("DELETE /sites/:site/hosts/:host", { onDone: () => notify(`${host} removed.`) });
  return (
    <Stack gap={4} align="flex-end">
      <Group gap={4}>
        <Button
          size="compact-sm"
          variant="default"
          loading={verify.isPending}
          aria-label={`Check now: ${host}`}
          onClick={() => verify.mutate({ params })}
        >
          Check now
        </Button>
        {state === "paused" ? (
          <Button
            size="compact-sm"
            variant="default"
            loading={resume.isPending}
            aria-label={`Resume ${host}`}
            onClick={() => resume.mutate({ params })}
          >
            Resume
          </Button>
        ) : (
          <ConfirmButton
            label="Pause"
            size="compact-sm"
            danger={false}
            question={`Pause ${host}?`}
            consequence="Within two seconds its pages no longer get the tag, and visits are not recorded. Events with a valid inbound key are still accepted. No data is deleted."
            confirm="Pause"
            onConfirm={() => pause.mutateAsync({ params })}
            isBusy={pause.isPending}
            error={pause.error}
          />
        )}
        {!isOnly && (
          <ConfirmButton
            label="Remove"
            size="compact-sm"
            question={`Remove ${host}?`}
            consequence="It no longer belongs to this site, and another site can add it. Remove its DNS record or proxy rule first. Recorded data is kept."
            confirm="Remove"
            onConfirm={() => remove.mutateAsync({ params })}
            isBusy={remove.isPending}
            error={remove.error}
          />
        )}
      </Group>
      <RequestError error={verify.error ?? resume.error} />
    </Stack>
  );
}
