// Platforms by the name that people know.

import { useApi } from "./query.ts";

/** "google_ads" is "Google Ads"; one that this version does not know keeps its id. */
export function usePlatformName(): (id: string) => string {
  const { data } = useApi("GET /platforms", {});
  return (id) => data?.items.find((one) => one.id === id)?.name ?? id;
}
