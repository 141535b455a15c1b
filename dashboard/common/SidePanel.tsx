// Details in a drawer that has its own URL. Opening the URL opens the drawer, and closing the drawer goes back.

import { Drawer } from "@mantine/core";
import type { ReactNode } from "react";
import { commonText } from "../messages/common.ts";

export function SidePanel({
  title,
  onClose,
  children,
  size = 640,
}: {
  title: ReactNode;
  onClose: () => void;
  children: ReactNode;
  size?: number;
}) {
  return (
    <Drawer
      opened
      onClose={onClose}
      position="right"
      size={size}
      title={title}
      styles={{ title: { fontSize: 16, lineHeight: "24px", fontWeight: 600 } }}
      padding="lg"
      closeButtonProps={{ "aria-label": commonText.close }}
    >
      {children}
    </Drawer>
  );
}
