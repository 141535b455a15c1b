// Several actions of a page or a card. On a phone they are behind one button.

import { ActionIcon, Group, Popover, Stack } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import { Ellipsis } from "lucide-react";
import { useState, type ReactNode } from "react";
import { commonText } from "../messages/common.ts";

export function Actions({ children }: { children: ReactNode }) {
  const isNarrow = useMediaQuery("(max-width: 48em)", false, { getInitialValueInEffect: false });
  const [isOpen, setOpen] = useState(false);
  if (!isNarrow) return <Group gap="xs">{children}</Group>;
  return (
    // Kept mounted, and hidden by its style alone: the dialogs of the buttons stay open when this closes.
    <Popover
      opened={isOpen}
      onChange={setOpen}
      position="bottom-end"
      keepMounted
      keepMountedMode="display-none"
      withRoles={false}
      trapFocus
      returnFocus
    >
      <Popover.Target>
        <ActionIcon
          variant="default"
          size="lg"
          aria-label={commonText.moreActions}
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          <Ellipsis size={18} aria-hidden />
        </ActionIcon>
      </Popover.Target>
      {/* It would cover the dialog that a button opens. */}
      <Popover.Dropdown role="dialog" aria-label={commonText.moreActions} onClickCapture={() => setOpen(false)}>
        <Stack gap="xs">{children}</Stack>
      </Popover.Dropdown>
    </Popover>
  );
}
