// Declares the routes of sign-in and the signed-in person's account.

import { z } from "zod";
import { email, grant } from "./members.ts";
import { done, id, name, role, type Route, time } from "./route.ts";

const password = z.string().min(12, "must be at least 12 characters").max(200);
/** An existing password, of any length. */
const currentPassword = z.string().min(1).max(200);
const token = z.string().min(1).max(200).describe("The part of the one-time link after the #.");
const code = "A code of the authenticator app";

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
  "GET /me/devices": {
    summary: "List your devices that show alerts",
    allow: "signed in",
    apiKeys: false,
    answer: z.object({
      items: z.array(
        z.object({ id: id.describe("The SHA-256 of the device's address at its push service."), name, createdAt: time }),
      ),
      publicKey: z.string().describe("The key that a browser subscribes with (VAPID)."),
    }),
  },
  "POST /me/devices": {
    summary: "Show alerts on a device, once its push service has taken a first notification",
    allow: "signed in",
    apiKeys: false,
    body: z.object({
      name,
      endpoint: z.string().min(1).max(2000).describe("The address at the browser's push service."),
      keys: z
        .object({ p256dh: z.base64url().length(87), auth: z.base64url().length(22) })
        .describe("As PushSubscription.toJSON() gives them."),
    }),
    answer: z.object({ id }),
  },
  "DELETE /me/devices/:device": {
    summary: "Show no alerts on one of your devices any more",
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
