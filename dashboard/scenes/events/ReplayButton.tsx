// Replays one delivery, after a dry run that shows the effect.

import { Button, Skeleton, Text } from "@mantine/core";
import { RotateCw } from "lucide-react";
import { usePlatformName } from "../../common/api/platforms.ts";
import { useApi, useSend } from "../../common/api/query.ts";
import { ConfirmDialog, useLateDialog } from "../../common/dialogs.tsx";
import { notify } from "../../common/notices.tsx";
import { RequestError } from "../../common/states.tsx";
import type { EventTrace } from "./ReceivedSteps.tsx";
import { eventsText } from "../../messages/events.ts";
import { serverText } from "../../messages/server.ts";

type Delivery = Pick<EventTrace["deliveries"][number], "connection" | "platform" | "state">;
type Props = { site: string; eventId: string; delivery: Delivery };

export function ReplayButton({ variant, ...of }: Props & { variant: "default" | "subtle" }) {
  const { isMounted, isOpen, open, close } = useLateDialog();
  return (
    <>
      <Button variant={variant} size="compact-sm" leftSection={<RotateCw size={14} aria-hidden />} onClick={open}>
        {eventsText.replay.label}
      </Button>
      {isMounted && <ReplayDialog {...of} isOpen={isOpen} onClose={close} />}
    </>
  );
}

/** The dialog without its button: the rows of a list share one. */
export function ReplayDialog({
  site,
  eventId,
  delivery: { connection, platform, state },
  isOpen,
  onClose,
}: Props & { isOpen: boolean; onClose: () => void }) {
  const name = usePlatformName()(platform);
  const replay = useSend("POST /sites/:site/deliveries/replay", {
    onDone: ({ changed }) => notify(changed > 0 ? eventsText.replay.done(name) : eventsText.replay.nothing),
  });
  const chosen = { eventId, connection, state };
  return (
    <ConfirmDialog
      isOpen={isOpen}
      onClose={onClose}
      question={eventsText.replay.question(name)}
      consequence={<Forecast site={site} chosen={chosen} name={name} />}
      confirm={eventsText.replay.label}
      danger={false}
      of={replay}
      onConfirm={() => replay.mutate({ params: { site }, body: { ...chosen, dryRun: false } }, { onSuccess: onClose })}
    />
  );
}

type Chosen = { eventId: string; connection: string; state: Delivery["state"] };

function Forecast({ site, chosen, name }: { site: string; chosen: Chosen; name: string }) {
  const { data, error } = useApi("POST /sites/:site/deliveries/replay", {
    params: { site },
    body: { ...chosen, dryRun: true },
  });
  if (error) return <RequestError error={error} />;
  if (!data) return <Skeleton height={40} />;
  const [why] = Object.keys(data.leftAlone);
  const [wait] = Object.keys(data.waiting);
  if (data.changed === 0)
    return (
      <Text size="sm">
        {eventsText.replay.wouldDoNothing(why === undefined ? eventsText.replay.hasChanged : serverText(why))}
      </Text>
    );
  return (
    <Text size="sm">
      {wait ? eventsText.replay.whenActive(serverText(wait)) : eventsText.replay.now}{" "}
      {chosen.state === "sent" ? eventsText.replay.duplicate(name) : eventsText.replay.sameId}
    </Text>
  );
}
