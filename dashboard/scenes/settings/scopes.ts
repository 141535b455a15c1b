// The scope of a role or key: one site, or all sites.

import { roleOn, useSession, useSiteId, useSites } from "../../common/api/session.ts";
import { settingsText } from "../../messages/settings.ts";

export const allSites = "all";

/** Returns a function that names a scope: the site's name, or "All sites" for null. */
export function useScopeName(): (site: string | null) => string {
  const sites = useSites().data?.items;
  return (site) => (site === null ? settingsText.allSites : (sites?.find(({ id }) => id === site)?.name ?? site));
}

/** Returns the scopes that the user owns as choices, this site first. */
export function useOwnedScopes(): { value: string; label: string }[] {
  const here = useSiteId();
  const grants = useSession().data?.grants ?? [];
  const sites = useSites().data?.items ?? [];
  const owned = sites
    .filter(({ id }) => roleOn(grants, id) === "owner")
    .toSorted((one, other) => Number(other.id === here) - Number(one.id === here));
  return [
    ...owned.map(({ id, name }) => ({ value: id, label: id === here ? settingsText.thisSite(name) : name })),
    ...(roleOn(grants, null) === "owner" ? [{ value: allSites, label: settingsText.allSites }] : []),
  ];
}

/** The site of a chosen scope; null is the whole installation. */
export const siteOfScope = (choice: string): string | null => (choice === allSites ? null : choice);
