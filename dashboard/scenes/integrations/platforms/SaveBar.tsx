// Saves the changes of all tabs.

import { Button, Group, Text } from "@mantine/core";
import { RequestError } from "../../../common/states.tsx";
import type { Editor } from "./editor.ts";
import { tabOfFault } from "./draft.ts";

export function SaveBar({
  editor,
  isBusy,
  onDiscard,
}: {
  editor: Editor;
  isBusy: boolean;
  onDiscard: () => void;
}) {
  const { platform, connection, draft, signIn, error, mayChange } = editor;
  const isChanged = draft.isChanged || signIn !== null;
  if (!mayChange || (connection && !isChanged)) return null;
  const isReconnecting = connection?.state === "needs reconnection";
  return (
    <div className="cc-save">
      {/* Errors of a field are shown at the field. */}
      {error && tabOfFault(error, platform) === null && <RequestError error={error} />}
      <Group justify="space-between" gap="sm">
        <Text size="sm" c="dimmed" aria-live="polite">
          {connection ? "You have unsaved changes." : "Nothing is sent until it is connected."}
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
