// Looks up the display names of platforms.

import { useCallback } from "react";
import { useApi } from "./query.ts";

/** All platforms with their names: what is known of them besides is a hundred times as much. */
export const usePlatformNames = () => useApi("GET /platforms/names", {}).data?.items;

/** Returns the name of a platform ("Google Ads" for "google_ads"), or its id if this version does not know it. */
export function usePlatformName(): (id: string) => string {
  const names = usePlatformNames();
  return useCallback((id) => names?.find((one) => one.id === id)?.name ?? id, [names]);
}
