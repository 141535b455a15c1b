// Links that the relay hands out carry their ticket behind the #, which reaches no server and no log.

import { useLocation, useNavigate } from "@tanstack/react-router";
import { useEffect, useState } from "react";

/** The ticket of the link that was opened; it does not stay in the address. */
export function useTicket(): string | null {
  const { hash } = useLocation();
  const navigate = useNavigate();
  const [ticket, setTicket] = useState(hash);
  useEffect(() => {
    if (hash === "") return;
    setTicket(hash);
    void navigate({ to: ".", hash: "", replace: true });
  }, [hash, navigate]);
  return ticket === "" ? null : ticket;
}
