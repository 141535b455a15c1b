// A dialog that a link can open: its name is the hash of the page's URL.

import { useLocation, useNavigate } from "@tanstack/react-router";

/** Like useDisclosure of Mantine, with the state in the URL. */
export function useLinkedDialog(name: string) {
  const { hash, search } = useLocation();
  const navigate = useNavigate();
  const show = (shown: string) =>
    void navigate({ to: ".", search: search as never, hash: shown, replace: true, resetScroll: false });
  return [hash === name, { open: () => show(name), close: () => show("") }] as const;
}
