// Shared by the list and the panel of webhooks.

import { Stack, Text } from "@mantine/core";
import type { Answer } from "../../../common/api/api.ts";
import { State, Time } from "../../../common/values.tsx";
import { countOf } from "../connections.tsx";

export type Webhook = Answer<"GET /sites/:site/webhooks">["items"][number];
export type Period = Answer<"GET /sites/:site/webhooks">["period"];

export function periodText({ seconds }: Period): string {
  return seconds % 60 === 0 ? countOf(seconds / 60, "minute") : countOf(seconds, "second");
}

/** A failing webhook is still active: pushes are retried. */
export function WebhookState({ webhook }: { webhook: Webhook }) {
  const { state, failingSince, stateReason } = webhook;
  const isFailing = state === "active" && failingSince !== null;
  return (
    <Stack gap={0}>
      <State of={isFailing ? "failing" : state} />
      {isFailing && (
        <Text size="xs" c="dimmed">
          since <Time at={failingSince} />
        </Text>
      )}
      {stateReason && (
        <Text size="xs" c="dimmed" maw={280}>
          {stateReason}
        </Text>
      )}
    </Stack>
  );
}
