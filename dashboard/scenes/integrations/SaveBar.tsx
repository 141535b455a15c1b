// Saves what was changed on any of the tabs, and says what went out because of it.

import { Button, Group, Text } from "@mantine/core";
import { Refused } from "../../common/states.tsx";
import type { Bench } from "./bench.ts";
import { tabOfFault } from "./draft.ts";

export function SaveBar({
  bench,
  isBusy,
  onDiscard,
}: {
  bench: Bench;
  isBusy: boolean;
  onDiscard: () => void;
}) {
  const { platform, connection, draft, signIn, error, mayChange } = bench;
  const isChanged = draft.isChanged || signIn !== null;
  if (!mayChange || (connection && !isChanged)) return null;
  const isReconnecting = connection?.state === "needs reconnection";
  return (
    <div className="cc-save">
      {/* What stands at a field is said there. */}
      {error && tabOfFault(error, platform) === null && <Refused error={error} />}
      <Group justify="space-between" gap="sm">
        <Text size="sm" c="dimmed" aria-live="polite">
          {connection ? "Changes are not saved yet." : "Nothing is sent until it is connected."}
        </Text>
        <Group gap="xs">
          {draft.isChanged && (
            <Button variant="default" onClick={onDiscard}>
              Discard
            </Button>
          )}
          <Button type="submit" loading={isBusy}>
            {connection ? (isReconnecting ? "Reconnect" : "Save") : `Connect ${platform.name}`}
          </Button>
        </Group>
      </Group>
    </div>
  );
}
