// Replays one delivery, after a dry run.

import { RotateCw } from "lucide-react";
import { usePlatformName } from "../../../common/api/platforms.ts";
import { useSend } from "../../../common/api/query.ts";
import { ConfirmButton } from "../../../common/dialogs.tsx";
import { notify } from "../../../common/notices.tsx";
import { ReplayForecast } from "../../events/ReplayForecast.tsx";
import { isReplayable } from "../../events/eventCells.tsx";
import type { LogLine } from "./LogFilters.tsx";

export function ReplayOne({ site, line }: { site: string; line: LogLine }) {
  const name = usePlatformName()(line.platform);
  const replay = useSend("POST /sites/:site/deliveries/replay", {
    onDone: ({ changed }) => notify(changed > 0 ? `Replayed to ${name}.` : "Nothing was replayed."),
  });
  if (!isReplayable(line.state) || line.event.erased) return null;
  const chosen = { eventId: line.event.id, connection: line.connection, state: line.state };
  return (
    <ConfirmButton
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
