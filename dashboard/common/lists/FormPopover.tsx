// A form that opens under the control that belongs to it.

import { Popover } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import type { ReactNode } from "react";

export function FormPopover({
  label,
  target,
  children,
}: {
  /** Names the form for screen readers. */
  label: string;
  target: (form: { isOpen: boolean; open: () => void; toggle: () => void }) => ReactNode;
  children: (close: () => void) => ReactNode;
}) {
  const [isOpen, { open, close, toggle }] = useDisclosure();
  return (
    <Popover
      opened={isOpen}
      onChange={(opened) => !opened && close()}
      position="bottom-end"
      trapFocus
      returnFocus
      withRoles={false}
    >
      <Popover.Target>{target({ isOpen, open, toggle })}</Popover.Target>
      <Popover.Dropdown role="dialog" aria-label={label}>
        {children(close)}
      </Popover.Dropdown>
    </Popover>
  );
}
