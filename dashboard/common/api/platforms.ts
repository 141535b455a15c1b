// Looks up the display names of platforms.

import { useCallback } from "react";
import { useApi } from "./query.ts";

/** Returns the name of a platform ("Google Ads" for "google_ads"), or its id if this version does not know it. */
export function usePlatformName(): (id: string) => string {
  const { data } = useApi("GET /platforms", {});
  return useCallback((id) => data?.items.find((one) => one.id === id)?.name ?? id, [data]);
}
