// A dry run of a replay, shown before it is confirmed.

import { Skeleton, Text } from "@mantine/core";
import { useApi } from "../../common/api/query.ts";
import { RequestError } from "../../common/states.tsx";
import type { EventTrace } from "./ReceivedSteps.tsx";

type Chosen = { eventId: string; connection: string; state: EventTrace["deliveries"][number]["state"] };

export function ReplayForecast({ site, chosen, name }: { site: string; chosen: Chosen; name: string }) {
  const { data, error } = useApi("POST /sites/:site/deliveries/replay", {
    params: { site },
    body: { ...chosen, dryRun: true },
  });
  if (error) return <RequestError error={error} />;
  if (!data) return <Skeleton height={40} />;
  const [why] = Object.keys(data.leftAlone);
  const [wait] = Object.keys(data.waiting);
  if (data.changed === 0)
    return <Text size="sm">Nothing would be sent: {why ?? "its state has changed in the meantime"}.</Text>;
  return (
    <Text size="sm">
      One delivery is sent
      {wait
        ? ` once the connection is active again: it ${wait === "paused" ? "is paused" : wait}`
        : " now"}.{" "}
      {chosen.state === "sent"
        ? `${name} already has it. The platform event id is the same, so it can recognise the duplicate.`
        : "It has the same platform event id as before, so it is counted once."}
    </Text>
  );
}
