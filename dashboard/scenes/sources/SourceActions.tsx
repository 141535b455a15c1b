// Actions on a source: pause, resume, rotate its address, remove.

import { Button } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { Pause, Play, RefreshCw, Trash2 } from "lucide-react";
import { useSend } from "../../common/api/query.ts";
import { ConfirmButton } from "../../common/dialogs.tsx";
import { notify } from "../../common/notices.tsx";
import { RequestError } from "../../common/states.tsx";
import { sourcesText } from "../../messages/sources.ts";
import type { Kind } from "./kinds.ts";
import { Marked, type Source } from "./parts.tsx";

export function SourceActions({ site, source, kind }: { site: string; source: Source; kind: Kind }) {
  const navigate = useNavigate();
  const params = { site, source: source.id };
  const resume = useSend("POST /sites/:site/sources/:source/resume", {
    onDone: () => notify(sourcesText.actions.resumed(source.name)),
  });
  const pause = useSend("POST /sites/:site/sources/:source/pause", {
    onDone: () => notify(sourcesText.actions.paused(source.name), () => resume.mutate({ params })),
  });
  const rotate = useSend("POST /sites/:site/sources/:source/rotate", {
    onDone: () => {
      notify(sourcesText.actions.rotated);
      void navigate({ to: `/sites/${site}/sources/${source.id}`, search: { tab: "setup" } });
    },
  });
  const remove = useSend("DELETE /sites/:site/sources/:source", {
    onDone: () => {
      notify(sourcesText.actions.removed(source.name));
      void navigate({ to: `/sites/${site}/sources` });
    },
  });
  return (
    <>
      {source.state === "active" ? (
        <ConfirmButton
          label={sourcesText.actions.pause}
          question={sourcesText.actions.pauseQuestion(source.name)}
          // Some senders never repeat a request, and some switch their webhook off.
          consequence={
            <>
              {sourcesText.actions.pauseConsequence} <Marked text={kind.retries.join(" ")} />
            </>
          }
          confirm={sourcesText.actions.pause}
          danger={false}
          icon={<Pause size={15} aria-hidden />}
          onConfirm={() => pause.mutateAsync({ params })}
          of={pause}
        />
      ) : (
        <Button leftSection={<Play size={15} aria-hidden />} loading={resume.isPending} onClick={() => resume.mutate({ params })}>
          {sourcesText.actions.resume}
        </Button>
      )}
      <ConfirmButton
        label={sourcesText.actions.rotate}
        question={sourcesText.actions.rotateQuestion}
        consequence={sourcesText.actions.rotateConsequence}
        confirm={sourcesText.actions.rotate}
        danger={false}
        icon={<RefreshCw size={15} aria-hidden />}
        onConfirm={() => rotate.mutateAsync({ params })}
        of={rotate}
      />
      <ConfirmButton
        label={sourcesText.actions.remove}
        question={sourcesText.actions.removeQuestion(source.name)}
        consequence={sourcesText.actions.removeConsequence}
        confirm={sourcesText.actions.remove}
        icon={<Trash2 size={15} aria-hidden />}
        onConfirm={() => remove.mutateAsync({ params })}
        of={remove}
      />
      <RequestError error={resume.error} />
    </>
  );
}
