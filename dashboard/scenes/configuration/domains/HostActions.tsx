// Check, pause, resume and remove a domain.

import { Button, Group, Stack } from "@mantine/core";
import { ConfirmButton } from "../../../common/dialogs.tsx";
import { notify } from "../../../common/notices.tsx";
import { useSend } from "../../../common/api/query.ts";
import { useSiteId } from "../../../common/api/session.ts";
import { RequestError } from "../../../common/states.tsx";
import type { Host } from "./Hosts.tsx";
import { configurationText } from "../../../messages/configuration.ts";
import { serverText } from "../../../messages/server.ts";

export function HostActions({ host: { host, state }, isOnly }: { host: Host; isOnly: boolean }) {
  const params = { site: useSiteId(), host };
  const verify = useSend("POST /sites/:site/hosts/:host/verify", {
    onDone: ({ problem }) => notify(problem ? serverText(problem.what) : configurationText.domains.pointsHere(host)),
  });
  const pause = useSend("POST /sites/:site/hosts/:host/pause", {
    onDone: () => notify(configurationText.domains.paused(host)),
  });
  const resume = useSend("POST /sites/:site/hosts/:host/resume", {
    onDone: (resumed) =>
      notify(resumed.state === "waiting" ? configurationText.domains.isWaiting(host) : configurationText.domains.isServed(host)),
  });
  const remove = useSend("DELETE /sites/:site/hosts/:host", {
    onDone: () => notify(configurationText.domains.removed(host)),
  });
  return (
    <Stack gap={4} align="flex-end">
      <Group gap={4}>
        <Button
          size="compact-sm"
          variant="default"
          loading={verify.isPending}
          aria-label={configurationText.domains.checkOne(host)}
          onClick={() => verify.mutate({ params })}
        >
          {configurationText.domains.check}
        </Button>
        {state === "paused" ? (
          <Button
            size="compact-sm"
            variant="default"
            loading={resume.isPending}
            aria-label={configurationText.domains.resumeOne(host)}
            onClick={() => resume.mutate({ params })}
          >
            {configurationText.domains.resume}
          </Button>
        ) : (
          <ConfirmButton
            label={configurationText.domains.pause}
            size="compact-sm"
            danger={false}
            question={configurationText.domains.pauseQuestion(host)}
            consequence={configurationText.domains.pauseConsequence}
            confirm={configurationText.domains.pause}
            onConfirm={() => pause.mutateAsync({ params })}
            of={pause}
          />
        )}
        {!isOnly && (
          <ConfirmButton
            label={configurationText.domains.remove}
            size="compact-sm"
            question={configurationText.domains.removeQuestion(host)}
            consequence={configurationText.domains.removeConsequence}
            confirm={configurationText.domains.remove}
            onConfirm={() => remove.mutateAsync({ params })}
            of={remove}
          />
        )}
      </Group>
      <RequestError error={verify.error ?? resume.error} />
    </Stack>
  );
}
