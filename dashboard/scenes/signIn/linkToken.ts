// Links that the relay hands out carry their token behind the #, which reaches no server and no log.

import { useLocation, useNavigate } from "@tanstack/react-router";
import { useEffect, useState } from "react";

/** The token of the link that was opened; it does not stay in the address. */
export function useLinkToken(): string | null {
  const { hash } = useLocation();
  const navigate = useNavigate();
  const [token, setToken] = useState(hash);
  useEffect(() => {
    if (hash === "") return;
    setToken(hash);
    void navigate({ to: ".", hash: "", replace: true });
  }, [hash, navigate]);
  return token === "" ? null : token;
}
