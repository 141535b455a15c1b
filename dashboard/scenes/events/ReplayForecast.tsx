// What a replay of one delivery would do, asked before it is done.

import { Skeleton, Text } from "@mantine/core";
import { useApi } from "../../common/query.ts";
import { Refused } from "../../common/states.tsx";
import type { TraceOf } from "./ReceivedSteps.tsx";

type Chosen = { eventId: string; connection: string; state: TraceOf["deliveries"][number]["state"] };

export function ReplayForecast({ site, chosen, name }: { site: string; chosen: Chosen; name: string }) {
  const { data, error } = useApi("POST /sites/:site/deliveries/replay", {
    params: { site },
    body: { ...chosen, dryRun: true },
  });
  if (error) return <Refused error={error} />;
  if (!data) return <Skeleton height={40} />;
  const [why] = Object.keys(data.leftAlone);
  const [wait] = Object.keys(data.waiting);
  if (data.changed === 0)
    return <Text size="sm">Nothing would be sent: {why ?? "it has changed meanwhile"}.</Text>;
  return (
    <Text size="sm">
      One delivery goes out
      {wait
        ? ` once the connection is active again: it ${wait === "paused" ? "is paused" : wait}`
        : " now"}.{" "}
      {chosen.state === "sent"
        ? `${name} has it already, and gets the same event id, by which it can tell that it is the same.`
        : "It carries the same event id as before, so it is counted once."}
    </Text>
  );
}
