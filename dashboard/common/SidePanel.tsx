// Details in a drawer that has its own URL. Opening the URL opens the drawer, and closing the drawer goes back.

import { Drawer } from "@mantine/core";
import { useEffect, useState, type ReactNode } from "react";
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
  useReturnedFocus();
  useLockedPage();
  return (
    <Drawer
      opened
      lockScroll={false}
      // Escape closes the dialog over the drawer alone.
      onClose={() => {
        if (openDialogs().length === 1) onClose();
      }}
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

/**
 * Keeps the page behind the drawer in its place. Mantine adds a style sheet for that, with which the browser computes the styles of the
 * whole page again before it shows the drawer.
 */
function useLockedPage(): void {
  useEffect(() => {
    const { style } = document.body;
    // After the drawer is shown.
    const timer = setTimeout(() => {
      style.paddingRight = `${innerWidth - document.documentElement.clientWidth}px`;
      style.overflow = "hidden";
    });
    return () => {
      clearTimeout(timer);
      style.overflow = "";
      style.paddingRight = "";
    };
  }, []);
}

/** A form that is kept in the document while it is closed does not count. */
const openDialogs = () => [...document.querySelectorAll("[role=dialog]")].filter((one) => one.checkVisibility());

/** Gives the focus back to the element that opened the drawer. The drawer is removed with its URL, so Mantine cannot do it. */
function useReturnedFocus(): void {
  // Read while rendering: afterwards the drawer has the focus.
  const [opener] = useState(() => document.activeElement);
  useEffect(
    () => () => {
      setTimeout(() => {
        // A row that was deleted from the drawer has already passed the focus on.
        if (openDialogs().length > 0 || document.activeElement !== document.body) return;
        const isUsable = opener instanceof HTMLElement && opener.isConnected && opener !== document.body;
        const target = isUsable ? opener : document.querySelector<HTMLElement>("#content");
        target?.focus({ preventScroll: true });
      });
    },
    [opener],
  );
}
