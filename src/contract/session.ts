// Declares the routes of sign-in, the signed-in person's account, members and API keys.

import { z } from "zod";
import { scopes } from "../kernel/scopes.ts";
import { count, done, expiresAt, id, moment, name, role, type Route, time } from "./route.ts";

const email = z.string().max(320).describe("The email address of an account or an invitation, stored as it is.");
const password = z.string().min(12, "must be at least 12 characters").max(200);
/** An existing password, of any length. */
const currentPassword = z.string().min(1).max(200);
const token = z.string().min(1).max(200).describe("The part of the one-time link after the #.");
const siteOrAll = id.nullable().describe("A site's id; null for all sites and the installation itself.");
const code = "A code of the authenticator app";

const grant = z.object({ site: siteOrAll, role }).meta({ id: "Grant" });

const session = z
  .object({
    user: z.object({ id, email, name, twoFactor: z.boolean() }),
    grants: z.array(grant),
    installation: z.object({
      version: z.string(),
      mail: z.boolean().describe("True if this installation can send email. Otherwise links are shown, to be passed on."),
      url: z.string(),
      store: z.enum(["sqlite", "postgres"]),
    }),
  })
  .meta({ id: "Session" });

const signedIn = z.object({ step: z.enum(["signed in", "code needed"]) });

export const sessionRoutes = {
  "GET /setup": {
    summary: "Check whether the installation still needs its first owner",
    allow: "public",
    apiKeys: false,
    answer: z.object({
      needed: z.boolean(),
      passwords: z.boolean().describe("False if people sign in at the identity provider alone."),
      singleSignOn: z.string().nullable().describe("The name of the identity provider; null without one."),
    }),
  },
  "POST /setup": {
    summary: "Create the first owner, with the token of the set-up link on the server's console",
    allow: "public",
    apiKeys: false,
    body: z.object({ token, email, name, password }),
    answer: done,
  },
  "GET /session": {
    summary: "Get the signed-in user and their roles; null without a session",
    allow: "public",
    apiKeys: false,
    answer: z.object({ session: session.nullable() }),
  },
  "POST /session": {
    summary: "Sign in with email and password",
    allow: "public",
    apiKeys: false,
    body: z.object({ email, password: currentPassword }),
    answer: signedIn,
  },
  "POST /session/code": {
    summary: "Finish signing in with a code of the authenticator app or a backup code",
    allow: "public",
    apiKeys: false,
    body: z.object({ code: z.string().trim().min(6).max(40).describe(`${code}, or a backup code.`) }),
    answer: done,
  },
  "DELETE /session": { summary: "Sign out", allow: "signed in", apiKeys: false, answer: done },
  "GET /sessions": {
    summary: "List your sessions",
    allow: "signed in",
    apiKeys: false,
    answer: z.object({
      items: z.array(
        z.object({
          id,
          createdAt: time,
          lastSeenAt: time,
          expiresAt: time,
          address: z.string().nullable(),
          userAgent: z.string().nullable(),
          isThis: z.boolean().describe("True for the session that makes this request."),
        }),
      ),
    }),
  },
  "DELETE /sessions/:session": {
    summary: "End one of your sessions",
    allow: "signed in",
    apiKeys: false,
    answer: done,
  },
  "PATCH /me": {
    summary: "Change your name",
    allow: "signed in",
    apiKeys: false,
    body: z.object({ name }),
    answer: done,
  },
  "POST /me/password": {
    summary: "Change your password; all your other sessions end",
    allow: "signed in",
    apiKeys: false,
    body: z.object({ current: currentPassword, password }),
    answer: done,
  },
  "POST /me/two-factor": {
    summary: "Start setting up two-factor sign-in: get a secret for the authenticator app, and backup codes",
    allow: "signed in",
    apiKeys: false,
    body: z.object({ password: currentPassword }),
    answer: z.object({
      uri: z.string().describe("An otpauth:// URI, for a QR code."),
      backupCodes: z.array(z.string()).describe("Each works once in place of a code. Shown only this once."),
    }),
  },
  "POST /me/two-factor/confirm": {
    summary: "Turn two-factor sign-in on, with a first code",
    allow: "signed in",
    apiKeys: false,
    body: z.object({ code: z.string().trim().min(6).max(10).describe(`${code}.`) }),
    answer: done,
  },
  "POST /me/two-factor/end": {
    summary: "Turn two-factor sign-in off",
    allow: "signed in",
    apiKeys: false,
    body: z.object({ password: currentPassword }),
    answer: done,
  },
  "POST /password-resets": {
    summary: "Request a password reset by email; the answer is the same for every address",
    allow: "public",
    apiKeys: false,
    body: z.object({ email }),
    answer: z.object({ mail: z.boolean().describe("True if this installation can send email.") }),
  },
  "POST /password-resets/finish": {
    summary: "Set a new password with the token of a reset link; all sessions end",
    allow: "public",
    apiKeys: false,
    body: z.object({ token, password }),
    answer: done,
  },
  "POST /invitations/lookup": {
    summary: "Look up an invitation",
    allow: "public",
    apiKeys: false,
    body: z.object({ token }),
    answer: z.object({
      email,
      role,
      site: z.string().nullable().describe("A site's name; null for all sites."),
      invitedBy: z.string(),
      known: z.boolean().describe("True if an account with this email exists. It accepts with its own password."),
    }),
  },
  "POST /invitations/accept": {
    summary: "Accept an invitation with a name and a new password, or with the password of an existing account",
    allow: "public",
    apiKeys: false,
    body: z.object({ token, name: name.optional(), password: currentPassword }),
    answer: done,
  },
} satisfies Record<string, Route>;

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

const granted = z
  .array(z.enum(scopes))
  .min(1, "choose at least one scope")
  .max(scopes.length)
  .describe(
    "`read`: see everything that a viewer can. `write`: change settings, connections and webhooks, and send again. `keys`: create, rotate and revoke inbound keys. `people`: find, export and erase people's data, and record their consent. None includes another.",
  );

export const apiKeyRoutes = {
  "GET /api-keys": {
    summary: "List API keys of the sites that you own",
    allow: "signed in",
    apiKeys: false,
    answer: z.object({
      items: z.array(
        z.object({
          id,
          name,
          prefix: z.string().describe("The first characters of the key."),
          site: siteOrAll,
          scopes: granted,
          createdBy: z.string(),
          createdAt: time,
          lastUsedAt: time.nullable(),
          uses24h: count.describe("Number of uses in the last 24 hours."),
          expiresAt,
          revokedAt: time.nullable(),
          inboundKeys: z
            .array(z.object({ site: id, id, name: z.string() }))
            .describe("The usable inbound keys that were created with this key."),
        }),
      ),
    }),
  },
  "POST /api-keys": {
    summary: "Create an API key for one site or for all sites; it is shown once",
    allow: "signed in",
    apiKeys: false,
    body: z.object({
      name,
      site: siteOrAll,
      scopes: granted,
      expiresAt: moment.nullable().default(null).describe("Null for a key that never expires."),
    }),
    answer: z.object({ id, key: z.string().describe("The key. Shown only this once.") }),
  },
  "DELETE /api-keys/:key": {
    summary: "Revoke an API key, and the inbound keys that were created with it; they stop working within 2 seconds",
    allow: "signed in",
    apiKeys: false,
    query: z.object({
      inboundKeys: z
        .enum(["revoke", "keep"])
        .default("revoke")
        .describe("`keep` leaves the inbound keys valid that were created with this key."),
    }),
    answer: z.object({ inboundKeys: z.array(id).describe("The inbound keys that were revoked.") }),
  },
} satisfies Record<string, Route>;
