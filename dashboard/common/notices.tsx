// Short notices that something was done. The first one loads their library.

import { Button, Group, Text } from "@mantine/core";
import { lazy, Suspense, useSyncExternalStore } from "react";

const library = () => import("@mantine/notifications");
const Shown = lazy(async () => {
  const { Notifications } = await library();
  return { default: () => <Notifications position="bottom-right" /> };
});

let isWanted = false;
const listeners = new Set<() => void>();
const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/** Renders the notices. */
export function Notices() {
  const isThere = useSyncExternalStore(subscribe, () => isWanted);
  return <Suspense fallback={null}>{isThere && <Shown />}</Suspense>;
}

/** Shows a notice; `undo` adds a button. */
export function notify(text: string, undo?: () => void): void {
  isWanted = true;
  for (const listener of listeners) listener();
  void library().then(({ notifications }) => {
    const id = crypto.randomUUID();
    const takeBack = () => {
      notifications.hide(id);
      undo?.();
    };
    const message = undo ? (
      <Group justify="space-between" gap="md">
        <Text size="sm">{text}</Text>
        <Button size="compact-sm" variant="subtle" onClick={takeBack}>
          Undo
        </Button>
      </Group>
    ) : (
      text
    );
    notifications.show({ id, message, autoClose: undo ? 8000 : 4000 });
  });
}
