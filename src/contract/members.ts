// Declares the routes of members and their invitations.

import { z } from "zod";
import { done, id, name, role, type Route, time } from "./route.ts";

export const email = z.string().max(320).describe("The email address of an account or an invitation, stored as it is.");
export const siteOrAll = id.nullable().describe("A site's id; null for all sites and the installation itself.");
export const grant = z.object({ site: siteOrAll, role }).meta({ id: "Grant" });

const link = z.object({
  link: z.string().nullable().describe("Null if it was sent by email."),
  expiresAt: time,
});

export const memberRoutes = {
  "GET /members": {
    summary: "List members and open invitations of the sites that you own",
    allow: "signed in",
    apiKeys: false,
    answer: z.object({
      members: z.array(
        z.object({
          id,
          email: email.describe("The member's email address."),
          name,
          twoFactor: z.boolean(),
          confirmed: z.boolean().describe("False if the owner of one site saw the invitation link and may have opened it."),
          invitedBy: z.string().nullable().describe("Shown to owners of the installation only."),
          createdAt: time,
          lastSeenAt: time.nullable(),
          grants: z.array(grant),
          isMe: z.boolean(),
        }),
      ),
      invitations: z.array(z.object({ id, email, ...grant.shape, invitedBy: z.string(), createdAt: time, expiresAt: time })),
    }),
  },
  "POST /members/invitations": {
    summary: "Invite a person to a site that you own, or to all sites",
    allow: "signed in",
    apiKeys: false,
    body: z.object({ email, ...grant.shape }),
    answer: link,
  },
  "DELETE /members/invitations/:invitation": {
    summary: "Withdraw an invitation",
    allow: "signed in",
    apiKeys: false,
    answer: done,
  },
  "PUT /members/:member/grants": {
    summary: "Change a member's role on a site or on all sites; role null removes it. The last owner cannot be removed",
    allow: "signed in",
    apiKeys: false,
    body: z.object({ site: siteOrAll, role: role.nullable() }),
    answer: done,
  },
  "DELETE /members/:member": {
    summary: "Remove a member from the installation; their sessions end at once",
    allow: "owner",
    apiKeys: false,
    answer: done,
  },
  "POST /members/:member/password-reset": {
    summary: "Create a password reset link for a member; using it also turns two-factor sign-in off",
    allow: "owner",
    apiKeys: false,
    answer: link,
  },
} satisfies Record<string, Route>;
