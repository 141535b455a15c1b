// A webhook as its list and its panel show it.

import { Stack, Text } from "@mantine/core";
import type { Answer } from "../../common/api.ts";
import { State, When } from "../../common/values.tsx";
import { countOf } from "./parts.tsx";

export type Webhook = Answer<"GET /sites/:site/webhooks">["items"][number];
export type Period = Answer<"GET /sites/:site/webhooks">["period"];

export function periodText({ seconds }: Period): string {
  return seconds % 60 === 0 ? countOf(seconds / 60, "minute") : countOf(seconds, "second");
}

/** Failing is active all the same: it is tried on. */
export function WebhookState({ webhook }: { webhook: Webhook }) {
  const { state, failingSince, stateReason } = webhook;
  const isFailing = state === "active" && failingSince !== null;
  return (
    <Stack gap={0}>
      <State of={isFailing ? "failing" : state} />
      {isFailing && (
        <Text size="xs" c="dimmed">
          since <When at={failingSince} />
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
