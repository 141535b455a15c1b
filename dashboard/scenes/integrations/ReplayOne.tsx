// Sends one delivery again, after saying what that would do.

import { RotateCw } from "lucide-react";
import { AskButton } from "../../common/dialogs.tsx";
import { told } from "../../common/notices.tsx";
import { usePlatformName } from "../../common/platforms.ts";
import { useSend } from "../../common/query.ts";
import { ReplayForecast } from "../events/ReplayForecast.tsx";
import type { LogLine } from "./log.ts";

export function ReplayOne({ site, line }: { site: string; line: LogLine }) {
  const name = usePlatformName()(line.platform);
  const replay = useSend("POST /sites/:site/deliveries/replay", {
    onDone: ({ changed }) => told(changed > 0 ? `It goes to ${name} again.` : "Nothing was sent again."),
  });
  // What is queued goes out by itself.
  if (line.state === "queued" || line.event.erased) return null;
  const chosen = { eventId: line.event.id, connection: line.connection, state: line.state };
  return (
    <AskButton
      label="Replay"
      question={`Send it to ${name} again?`}
      consequence={<ReplayForecast site={site} chosen={chosen} name={name} />}
      confirm="Send it again"
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
