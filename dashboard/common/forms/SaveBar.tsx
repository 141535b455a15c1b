import { Button, Group, Paper, Stack, Text } from "@mantine/core";
import type { ReactNode } from "react";
import type { ApiError } from "../api/api.ts";
import { RequestError } from "../states.tsx";
import { commonText } from "../../messages/common.ts";

/** The one place where a page is saved. It is shown while there are unsaved changes; errors of fields are shown at the fields. */
export function SaveBar({
  about = commonText.unsaved,
  save = commonText.save,
  error,
  isPending,
  onDiscard,
  children,
}: {
  about?: string;
  /** The label of the button. */
  save?: string;
  error: ApiError | null;
  isPending: boolean;
  /** Null if there is nothing to discard. */
  onDiscard: (() => void) | null;
  /** More buttons. */
  children?: ReactNode;
}) {
  return (
    <Paper withBorder shadow="sm" radius="md" px="md" py="sm" pos="sticky" bottom={0} style={{ zIndex: 2 }}>
      <Stack gap="xs">
        <RequestError error={error} />
        <Group justify="space-between" gap="sm">
          <Text size="sm" c="dimmed" aria-live="polite">
            {about}
          </Text>
          <Group gap="xs">
            {onDiscard && (
              <Button variant="default" onClick={onDiscard}>
                {commonText.discard}
              </Button>
            )}
            {children}
            <Button type="submit" loading={isPending}>
              {save}
            </Button>
          </Group>
        </Group>
      </Stack>
    </Paper>
  );
}
