// Sends one delivery again, after saying what that would do.

import { RotateCw } from "lucide-react";
import { AskButton } from "../../common/dialogs.tsx";
import { told } from "../../common/notices.tsx";
import { usePlatformName } from "../../common/platforms.ts";
import { useSend } from "../../common/query.ts";
import { isReplayable } from "../events/parts.tsx";
import { ReplayForecast } from "../events/ReplayForecast.tsx";
import type { LogLine } from "./log.ts";

export function ReplayOne({ site, line }: { site: string; line: LogLine }) {
  const name = usePlatformName()(line.platform);
  const replay = useSend("POST /sites/:site/deliveries/replay", {
    onDone: ({ changed }) => told(changed > 0 ? `Replayed to ${name}.` : "Nothing was replayed."),
  });
  if (!isReplayable(line.state) || line.event.erased) return null;
  const chosen = { eventId: line.event.id, connection: line.connection, state: line.state };
  return (
    <AskButton
      label="Replay"
      question={`Replay it to ${name}?`}
      consequence={<ReplayForecast site={site} chosen={chosen} name={name} />}
      confirm="Replay"
      danger={false}
      variant="subtle"
      size="compact-sm"
      icon={<RotateCw size={14} aria-hidden />}
      isBusy={replay.isPending}
      error={replay.error}
      onConfirm={() => replay.mutateAsync({ params: { site }, body: { ...chosen, dryRun: false } })}
    />
  );
}
