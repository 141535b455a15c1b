// Several actions of a page or a card. On a phone they are behind one button.

import { ActionIcon, Group, Popover, Stack } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import { Ellipsis } from "lucide-react";
import type { ReactNode } from "react";
import { commonText } from "../messages/common.ts";

export function Actions({ children }: { children: ReactNode }) {
  const isNarrow = useMediaQuery("(max-width: 48em)", false, { getInitialValueInEffect: false });
  if (!isNarrow) return <Group gap="xs">{children}</Group>;
  return (
    // Kept mounted, and hidden by its style alone: the dialogs of the buttons stay open when this closes. They are above it.
    <Popover
      zIndex={190}
      position="bottom-end"
      keepMounted
      keepMountedMode="display-none"
      withRoles={false}
      trapFocus
      returnFocus
    >
      <Popover.Target>
        <ActionIcon variant="default" size="lg" aria-label={commonText.moreActions}>
          <Ellipsis size={18} aria-hidden />
        </ActionIcon>
      </Popover.Target>
      <Popover.Dropdown role="dialog" aria-label={commonText.moreActions}>
        <Stack gap="xs">{children}</Stack>
      </Popover.Dropdown>
    </Popover>
  );
}
