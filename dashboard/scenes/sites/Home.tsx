// Where somebody lands: on the one site that they have, or on all of them.

import { Navigate } from "@tanstack/react-router";
import { useSites } from "../../common/session.tsx";
import { Fault, Loading } from "../../common/states.tsx";

export default function Home() {
  const { data, error, refetch } = useSites();
  if (error) return <Fault error={error} again={() => void refetch()} />;
  if (!data) return <Loading />;
  const [only, another] = data.items;
  return <Navigate to={only && !another ? `/sites/${only.id}/overview` : "/sites"} replace />;
}
