// Short notices about what was done. The first one loads the library.

import { Button, Group, Text } from "@mantine/core";
import { lazy, Suspense, useSyncExternalStore } from "react";
import { commonText } from "../messages/common.ts";

async function loadNotifications() {
  const [library] = await Promise.all([import("@mantine/notifications"), import("@mantine/notifications/styles.layer.css")]);
  return library;
}
const LazyNotifications = lazy(async () => {
  const { Notifications } = await loadNotifications();
  return { default: () => <Notifications position="bottom-right" /> };
});

let isNeeded = false;
let shown = 0;
const listeners = new Set<() => void>();
const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/** Renders the notices. */
export function Notices() {
  const isLoaded = useSyncExternalStore(subscribe, () => isNeeded);
  return <Suspense fallback={null}>{isLoaded && <LazyNotifications />}</Suspense>;
}

/** Shows a notice; `undo` adds a button. */
export function notify(text: string, undo?: () => void): void {
  isNeeded = true;
  for (const listener of listeners) listener();
  void loadNotifications().then(({ notifications }) => {
    const id = `notice-${(shown += 1)}`;
    const hideAndUndo = () => {
      notifications.hide(id);
      undo?.();
    };
    const message = undo ? (
      <Group justify="space-between" gap="md">
        <Text size="sm">{text}</Text>
        <Button size="compact-sm" variant="subtle" onClick={hideAndUndo}>
          {commonText.undo}
        </Button>
      </Group>
    ) : (
      text
    );
    notifications.show({ id, message, autoClose: undo ? 8000 : 4000 });
  });
}
