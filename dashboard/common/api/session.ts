// The signed-in user, their role, and the site in the URL.

import { useParams } from "@tanstack/react-router";
import { createContext, useContext } from "react";
import type { Answer } from "./api.ts";
import { useApi } from "./query.ts";

export type Role = "viewer" | "admin" | "owner";
export type Site = Answer<"GET /sites">["items"][number];

const rank: Record<Role, number> = { viewer: 0, admin: 1, owner: 2 };

type Session = NonNullable<Answer<"GET /session">["session"]>;

/** `data` is undefined while the session loads, and null if there is none. */
export function useSession() {
  const query = useApi("GET /session", {});
  return { ...query, data: query.data?.session };
}

/** Returns the highest role on a site, or on the whole installation if `site` is null. */
export function roleOn(grants: Session["grants"], site: string | null): Role | null {
  const held = grants.filter((grant) => grant.site === null || grant.site === site).map(({ role }) => role);
  return held.toSorted((one, other) => rank[other] - rank[one])[0] ?? null;
}

/** Returns true if the user has at least this role. Actions that the user may not do are not offered. */
export function useMay(role: Role, site: string | null): boolean {
  const { data } = useSession();
  const held = data ? roleOn(data.grants, site) : null;
  return held !== null && rank[held] >= rank[role];
}

/** A parameter of the path of the page, such as the id of what it shows; empty where the path has none of this name. */
export function usePathParameter(name: string): string {
  const parameters: Readonly<Record<string, string | undefined>> = useParams({ strict: false });
  return parameters[name] ?? "";
}

/** The id of the site in the URL. */
export const useSiteId = () => usePathParameter("site");

export const useSites = () => useApi("GET /sites", {}, { everyMs: 60_000 });

/** Provided by the frame of every page, because each time in a long list needs the site's time zone. */
export const SiteContext = createContext<Site | undefined>(undefined);

/** Finds the site of the frame. */
export function useFindSite(id: string): Site | undefined {
  return useSites().data?.items.find((one) => one.id === id);
}

/** The site in the URL; undefined while it loads. */
export const useSite = (): Site | undefined => useContext(SiteContext);

export const allRoles: readonly Role[] = ["viewer", "admin", "owner"];
