// Check, pause, resume and remove a domain.

import { Button, Group, Stack } from "@mantine/core";
import { AskButton } from "../../common/dialogs.tsx";
import { told } from "../../common/notices.tsx";
import { useSend } from "../../common/query.ts";
import { useSiteId } from "../../common/session.tsx";
import { Refused } from "../../common/states.tsx";
import type { Host } from "./Hosts.tsx";

export function HostActions({ host: { host, state }, isOnly }: { host: Host; isOnly: boolean }) {
  const params = { site: useSiteId(), host };
  const verify = useSend("POST /sites/:site/hosts/:host/verify", {
    onDone: ({ problem }) => told(problem ? problem.what : `${host} leads here.`),
  });
  const pause = useSend("POST /sites/:site/hosts/:host/pause", { onDone: () => told(`${host} is paused.`) });
  const resume = useSend("POST /sites/:site/hosts/:host/resume", {
    onDone: (now) =>
      told(now.state === "waiting" ? `${host} waits until it is verified.` : `${host} is served again.`),
  });
  const remove = useSend("DELETE /sites/:site/hosts/:host", { onDone: () => told(`${host} is removed.`) });
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
          <AskButton
            label="Pause"
            size="compact-sm"
            danger={false}
            question={`Pause ${host}?`}
            consequence="Within two seconds its pages get no tag any more and their visits are not recorded. Events that come with a valid inbound key are still taken. Everything is kept."
            confirm="Pause"
            onConfirm={() => pause.mutateAsync({ params })}
            isBusy={pause.isPending}
            error={pause.error}
          />
        )}
        {!isOnly && (
          <AskButton
            label="Remove"
            size="compact-sm"
            question={`Remove ${host}?`}
            consequence="It no longer belongs to this site, and another site could add it. Take its DNS record or its proxy rule away first. What was recorded under it stays."
            confirm="Remove"
            onConfirm={() => remove.mutateAsync({ params })}
            isBusy={remove.isPending}
            error={remove.error}
          />
        )}
      </Group>
      <Refused error={verify.error ?? resume.error} />
    </Stack>
  );
}
