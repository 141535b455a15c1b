// One-time links carry their token in the fragment, which reaches no server and no log.

import { useLocation, useNavigate } from "@tanstack/react-router";
import { useEffect, useState } from "react";

/** Reads the token of the opened link and removes it from the URL. */
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
