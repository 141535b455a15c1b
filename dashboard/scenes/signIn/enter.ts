import { useNavigate, useSearch } from "@tanstack/react-router";
import { queryClient } from "../../common/query.ts";

/** Only a path of this dashboard: a link to the sign-in page must not lead anywhere else. */
export function ownPath(next: unknown): string {
  if (typeof next !== "string" || !/^\/(?![/\\])/.test(next)) return "/";
  const url = URL.parse(next, location.origin);
  return url?.origin === location.origin ? url.pathname + url.search + url.hash : "/";
}

/** Goes to where somebody wanted to be. What was read for whoever was signed in before is forgotten. */
export function useEnter(): () => void {
  const navigate = useNavigate();
  const { next } = useSearch({ strict: false }) as { next?: unknown };
  return () => {
    queryClient.clear();
    void navigate({ href: ownPath(next), replace: true });
  };
}
