import { useNavigate, useSearch } from "@tanstack/react-router";
import { call } from "../../common/api/api.ts";
import { queryClient } from "../../common/api/query.ts";

/** Returns `next` if it is a path of this origin, else "/": a link to the sign-in page must not lead to another origin. */
function ownPath(next: unknown): string {
  if (typeof next !== "string" || !/^\/(?![/\\])/.test(next)) return "/";
  const url = URL.parse(next, location.origin);
  return url?.origin === location.origin ? url.pathname + url.search + url.hash : "/";
}

/** Opens the page that was requested before sign-in. Drops the cache of the previous user. */
export function useEnter(): () => void {
  const navigate = useNavigate();
  const { next }: { next?: unknown } = useSearch({ strict: false });
  return () => {
    queryClient.clear();
    void navigate({ href: ownPath(next), replace: true });
  };
}

/** Opens the first site, where the new owner sees a conversion arrive. */
export function useBegin(): () => void {
  const navigate = useNavigate();
  const open = (path: string) => void navigate({ to: path, replace: true });
  return () => {
    queryClient.clear();
    call("GET /sites", {}).then(
      ({ items: [first] }) => open(first ? `/sites/${first.id}/first-conversion` : "/"),
      () => open("/"),
    );
  };
}
