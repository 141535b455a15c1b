// Signing in, and what people do about themselves.

import { z } from "zod";
import { count, done, id, moment, name, roles, type Route, time } from "./route.ts";

const email = z.string().max(320);
const password = z.string().min(12, "must be at least 12 characters").max(200);
const typed = z.string().min(1).max(200);
const token = z.string().min(1).max(200);

/** `site` null is every site, and the installation itself. */
export const grant = z.object({ site: id.nullable(), role: z.enum(roles) });

export const session = z.object({
  user: z.object({ id, email, name, twoFactor: z.boolean() }),
  grants: z.array(grant),
  installation: z.object({
    version: z.string(),
    /** Whether mail can be sent; without it, links are shown to be passed on. */
    mail: z.boolean(),
    url: z.string(),
    /** Where the database is, in words. */
    store: z.enum(["sqlite", "postgres"]),
  }),
});

const signedIn = z.object({ step: z.enum(["signed in", "code needed"]) });

export const sessionRoutes = {
  "GET /setup": {
    summary: "Whether the installation still waits for its first owner",
    allow: "anybody",
    apiKeys: false,
    answer: z.object({ needed: z.boolean() }),
  },
  "POST /setup": {
    summary: "Become the first owner, with the token of the set-up link on the console",
    allow: "anybody",
    apiKeys: false,
    body: z.object({ token, email, name, password }),
    answer: done,
  },
  "GET /session": {
    summary: "Who is signed in, and what they may do; null for nobody",
    allow: "anybody",
    apiKeys: false,
    answer: z.object({ session: session.nullable() }),
  },
  "POST /session": {
    summary: "Sign in with email and password",
    allow: "anybody",
    apiKeys: false,
    body: z.object({ email, password: typed }),
    answer: signedIn,
  },
  "POST /session/code": {
    summary: "Finish signing in with a code of the authenticator app, or a backup code",
    allow: "anybody",
    apiKeys: false,
    body: z.object({ code: z.string().trim().min(6).max(40) }),
    answer: done,
  },
  "DELETE /session": { summary: "Sign out", allow: "signed in", apiKeys: false, answer: done },
  "GET /sessions": {
    summary: "Where one is signed in",
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
          isThis: z.boolean(),
        }),
      ),
    }),
  },
  "DELETE /sessions/:session": {
    summary: "Sign out somewhere else",
    allow: "signed in",
    apiKeys: false,
    answer: done,
  },
  "PATCH /me": {
    summary: "Change one's name",
    allow: "signed in",
    apiKeys: false,
    body: z.object({ name }),
    answer: done,
  },
  "POST /me/password": {
    summary: "Change one's password; all other sessions end",
    allow: "signed in",
    apiKeys: false,
    body: z.object({ current: typed, password }),
    answer: done,
  },
  "POST /me/two-factor": {
    summary: "Begin two-factor sign-in: a secret for the authenticator app, and backup codes",
    allow: "signed in",
    apiKeys: false,
    body: z.object({ password: typed }),
    answer: z.object({ uri: z.string(), backupCodes: z.array(z.string()) }),
  },
  "POST /me/two-factor/confirm": {
    summary: "Switch two-factor sign-in on, with a first code",
    allow: "signed in",
    apiKeys: false,
    body: z.object({ code: z.string().trim().min(6).max(10) }),
    answer: done,
  },
  "POST /me/two-factor/end": {
    summary: "Switch two-factor sign-in off",
    allow: "signed in",
    apiKeys: false,
    body: z.object({ password: typed }),
    answer: done,
  },
  "POST /password-resets": {
    summary: "Ask for a link to set a new password; the answer is the same for every address",
    allow: "anybody",
    apiKeys: false,
    body: z.object({ email }),
    answer: z.object({ mail: z.boolean() }),
  },
  "POST /password-resets/finish": {
    summary: "Set a new password with the token of such a link; all sessions end",
    allow: "anybody",
    apiKeys: false,
    body: z.object({ token, password }),
    answer: done,
  },
  "POST /invitations/look": {
    summary: "What an invitation is for",
    allow: "anybody",
    apiKeys: false,
    body: z.object({ token }),
    answer: z.object({
      email,
      role: z.enum(roles),
      site: z.string().nullable(),
      invitedBy: z.string(),
      /** Somebody with this email has an account: they accept by signing in with its password. */
      known: z.boolean(),
    }),
  },
  "POST /invitations/accept": {
    summary: "Accept an invitation: with a name and a new password, or with the password of one's account",
    allow: "anybody",
    apiKeys: false,
    body: z.object({ token, name: name.optional(), password: z.string().min(1).max(200) }),
    answer: done,
  },
} satisfies Record<string, Route>;

const link = z.object({
  /** Null where it was sent by mail. */
  link: z.string().nullable(),
  expiresAt: time,
});

export const memberRoutes = {
  "GET /members": {
    summary: "Members and open invitations, of the sites that one owns",
    allow: "signed in",
    apiKeys: false,
    answer: z.object({
      members: z.array(
        z.object({
          id,
          email,
          name,
          twoFactor: z.boolean(),
          /** False: the invitation's link was shown to the owner of one site, who may have opened it themselves. */
          confirmed: z.boolean(),
          /** Known to owners of the installation. */
          invitedBy: z.string().nullable(),
          createdAt: time,
          lastSeenAt: time.nullable(),
          grants: z.array(grant),
          isMe: z.boolean(),
        }),
      ),
      invitations: z.array(
        z.object({ id, email, ...grant.shape, invitedBy: z.string(), createdAt: time, expiresAt: time }),
      ),
    }),
  },
  "POST /members/invitations": {
    summary: "Invite somebody to a site, or to all (site null); owners of it may",
    allow: "signed in",
    apiKeys: false,
    body: z.object({ email, ...grant.shape }),
    answer: link,
  },
  "DELETE /members/invitations/:invitation": {
    summary: "Take an invitation back",
    allow: "signed in",
    apiKeys: false,
    answer: done,
  },
  "PUT /members/:member/grants": {
    summary:
      "Give a member another role on a site or on all; role null takes it away. One owner always remains",
    allow: "signed in",
    apiKeys: false,
    body: z.object({ site: id.nullable(), role: z.enum(roles).nullable() }),
    answer: done,
  },
  "DELETE /members/:member": {
    summary: "Remove a member from the installation; their sessions end at once",
    allow: "owner",
    apiKeys: false,
    answer: done,
  },
  "POST /members/:member/password-reset": {
    summary: "Make a link with which a member sets a new password; two-factor sign-in is switched off by it",
    allow: "owner",
    apiKeys: false,
    answer: link,
  },
} satisfies Record<string, Route>;

const access = z.enum(["read", "change"]);

export const apiKeyRoutes = {
  "GET /api-keys": {
    summary: "API keys of the sites that one owns",
    allow: "signed in",
    apiKeys: false,
    answer: z.object({
      items: z.array(
        z.object({
          id,
          name,
          prefix: z.string(),
          site: id.nullable(),
          access,
          createdBy: z.string(),
          createdAt: time,
          lastUsedAt: time.nullable(),
          uses24h: count,
          expiresAt: time.nullable(),
          revokedAt: time.nullable(),
        }),
      ),
    }),
  },
  "POST /api-keys": {
    summary: "Make an API key for one site, or for all (site null); it is shown once",
    allow: "signed in",
    apiKeys: false,
    body: z.object({ name, site: id.nullable(), access, expiresAt: moment.nullable().default(null) }),
    answer: z.object({ id, key: z.string() }),
  },
  "DELETE /api-keys/:key": {
    summary: "Revoke an API key; it ends within 2 seconds",
    allow: "signed in",
    apiKeys: false,
    answer: done,
  },
} satisfies Record<string, Route>;
