import type { Role } from "../../common/api/session.ts";

/** One sentence per role. */
export const roleSentences: Record<Role, string> = {
  viewer: "Viewers can see everything and change nothing.",
  admin: "Admins can also change settings, keys and connections.",
  owner: "Owners can also manage members and API keys.",
};

export const roleNames: Record<Role, string> = { viewer: "Viewer", admin: "Admin", owner: "Owner" };
export const allRoles: readonly Role[] = ["viewer", "admin", "owner"];
