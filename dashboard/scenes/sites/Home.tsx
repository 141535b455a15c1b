// Redirects to the only site of the user, or to the list of sites.

import { Navigate } from "@tanstack/react-router";
import { useSites } from "../../common/api/session.ts";
import { LoadState } from "../../common/states.tsx";

export default function Home() {
  const { data, error, refetch } = useSites();
  if (error || !data) return <LoadState of={{ data, error, refetch }} />;
  const [only, another] = data.items;
  return <Navigate to={only && !another ? `/sites/${only.id}/overview` : "/sites"} replace />;
}
