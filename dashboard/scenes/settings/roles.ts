import type { Role } from "../../common/session.tsx";

/** What each role may do, in one line. */
export const roleSentences: Record<Role, string> = {
  viewer: "Viewers see everything and change nothing.",
  admin: "Admins also change settings, keys and connections.",
  owner: "Owners also decide who belongs, and make API keys.",
};

export const roleNames: Record<Role, string> = { viewer: "Viewer", admin: "Admin", owner: "Owner" };
export const allRoles: readonly Role[] = ["viewer", "admin", "owner"];
