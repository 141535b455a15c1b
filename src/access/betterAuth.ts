// Sets up better-auth, reduced to what we use: passwords, sessions, authenticator apps. It is loaded at the first sign-in,
// so that a relay without dashboard users does not pay for it. This file also reads its cookies and builds its headers.

import { say } from "../kernel/messages/message.ts";
import { Refusal } from "../kernel/refusal.ts";
import type { Store } from "../store/store.ts";
import { addressOf, type AccessContext, type Caller } from "./context.ts";
import { hashPassword, isPassword, maxPasswordLength, minPasswordLength } from "./password.ts";

type BetterAuthOptions = {
  store: Pick<Store, "accounts">;
  /** See `readAccessSecret` in store/maintenance/encryptionKeyCheck.ts. */
  secret: string;
  publicUrl: string;
  newId: () => string;
  onDefect: (error: unknown) => void;
};

export type BetterAuth = Awaited<ReturnType<typeof loadBetterAuth>>;

/** Passes a caller's address to better-auth; headers of callers never reach it. */
const addressHeader = "x-cleancast-address";

const sessionDays = 30;
const daySeconds = 86_400;

export async function loadBetterAuth(options: BetterAuthOptions) {
  const [{ betterAuth }, { createAuthEndpoint }, { twoFactor }, { betterAuthAdapter }, { z }] = await Promise.all([
    import("better-auth/minimal"),
    import("better-auth/api"),
    import("better-auth/plugins/two-factor"),
    import("./adapter.ts"),
    import("zod"),
  ]);
  /** Sets the cookie of a session whose token was replaced. */
  const cookieFor = createAuthEndpoint.serverOnly(
    { method: "POST", body: z.object({ token: z.string() }) },
    async ({ context, body, setSignedCookie, json }) => {
      const { name, attributes } = context.authCookies.sessionToken;
      await setSignedCookie(name, body.token, context.secret, attributes);
      return json({});
    },
  );
  /** Opens a session for a user whom an identity provider has signed in. */
  const sessionFor = createAuthEndpoint.serverOnly(
    { method: "POST", body: z.object({ userId: z.string() }) },
    async ({ context, body, setSignedCookie, json }) => {
      const { token } = await context.internalAdapter.createSession(body.userId);
      const { name, attributes } = context.authCookies.sessionToken;
      await setSignedCookie(name, token, context.secret, attributes);
      return json({});
    },
  );
  const auth = betterAuth({
    ...betterAuthOptions(options),
    database: betterAuthAdapter(options.store, options.newId),
    plugins: [twoFactor(twoFactorOptions), { id: "cleancast", endpoints: { cookieFor, sessionFor } }],
  });
  await auth.$context;
  return auth;
}

/** Maps better-auth's fields to our columns. */
export const twoFactorOptions = {
  issuer: "Cleancast",
  schema: {
    user: { fields: { twoFactorEnabled: "two_factor" } },
    twoFactor: {
      modelName: "two_factors",
      fields: {
        userId: "user_id",
        backupCodes: "backup_codes",
        failedVerificationCount: "failures",
        lockedUntil: "locked_until",
      },
    },
  },
};

export const betterAuthOptions = ({ secret, publicUrl, onDefect }: Omit<BetterAuthOptions, "store" | "newId">) => ({
  appName: "Cleancast",
  baseURL: publicUrl,
  secret,
  telemetry: { enabled: false },
  logger: {
    level: "error" as const,
    // The further arguments may hold an IP address or an email.
    log: (_level: string, message: string) => onDefect(new Error(`sign-in: ${message}`)),
  },
  // Our own limits apply instead: all nodes share them.
  rateLimit: { enabled: false },
  emailAndPassword: {
    enabled: true,
    disableSignUp: true,
    minPasswordLength,
    maxPasswordLength,
    password: {
      hash: hashPassword,
      verify: ({ password, hash }: { password: string; hash: string }) => isPassword(password, hash),
    },
  },
  session: {
    modelName: "sessions",
    fields: {
      userId: "user_id",
      ipAddress: "address",
      userAgent: "user_agent",
      createdAt: "created_at",
      updatedAt: "updated_at",
      expiresAt: "expires_at",
    },
    expiresIn: sessionDays * daySeconds,
    updateAge: daySeconds,
    // Every request reads the session from the store, so that an ended session ends on every node.
    cookieCache: { enabled: false },
  },
  user: {
    modelName: "users",
    fields: { emailVerified: "email_verified", createdAt: "created_at", updatedAt: "updated_at" },
  },
  account: {
    modelName: "passwords",
    fields: {
      userId: "user_id",
      accountId: "account_id",
      providerId: "provider_id",
      accessToken: "access_token",
      refreshToken: "refresh_token",
      idToken: "id_token",
      accessTokenExpiresAt: "access_token_expires_at",
      refreshTokenExpiresAt: "refresh_token_expires_at",
      createdAt: "created_at",
      updatedAt: "updated_at",
    },
  },
  verification: {
    modelName: "verifications",
    fields: { createdAt: "created_at", updatedAt: "updated_at", expiresAt: "expires_at" },
  },
  advanced: {
    // Browsers accept a `__Host-` cookie from this exact host over HTTPS only, not from a sibling domain.
    cookiePrefix: publicUrl.startsWith("https:") ? "__Host-cleancast" : "cleancast",
    defaultCookieAttributes: { secure: publicUrl.startsWith("https:") },
    // better-auth would add a prefix of its own.
    useSecureCookies: false,
    ipAddress: { ipAddressHeaders: [addressHeader] },
  },
});

const cookieNames = { session: "cleancast.session_token", code: "cleancast.two_factor" } as const;

/** Keeps the cookies of one kind: a code finishes its own sign-in, also in a browser where another person is signed in. */
export function cookiesOf({ raw }: Caller, kind: keyof typeof cookieNames): string {
  return (raw.headers.cookie ?? "")
    .split(";")
    .map((one) => one.trim())
    .filter((one) => one.split("=", 1)[0]?.endsWith(cookieNames[kind]))
    .join("; ");
}

/** Reads a cookie: the token of a session, or the identifier of a sign-in that waits for its code. */
export function readCookie(cookies: string, kind: keyof typeof cookieNames): string {
  const form = new RegExp(`${cookieNames[kind].replace(".", "\\.")}=([^;]+)`, "g");
  // Of several, a browser keeps the last. The signature after the last dot is dropped.
  return decoded([...cookies.matchAll(form)].at(-1)?.[1] ?? "").replace(/\.[^.]*$/, "");
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}

/** Builds the headers that better-auth gets: address, user agent and the cookies of one kind, nothing else of the request. */
export function headersFor(context: AccessContext, caller: Caller, kind: keyof typeof cookieNames): Headers {
  const headers = new Headers({ [addressHeader]: addressOf(context, caller) });
  const cookie = cookiesOf(caller, kind);
  if (cookie) headers.set("cookie", cookie);
  const agent = caller.raw.headers["user-agent"]?.slice(0, 300);
  if (agent) headers.set("user-agent", agent);
  return headers;
}

/** Reads better-auth's error code; null for other errors. */
export function errorCodeOf(error: unknown): string | null {
  if (!(error instanceof Error) || !("body" in error)) return null;
  const { body } = error;
  const code = typeof body === "object" && body !== null && "code" in body ? body.code : null;
  return typeof code === "string" ? code : null;
}

export const errorStatusOf = (error: unknown) => (error instanceof Error && "statusCode" in error ? error.statusCode : null);

/** The same rule as better-auth's: an address that it rejects could never sign in. */
const emailForm = /^(?:[a-z0-9_'+-]+\.)*[a-z0-9_'+-]*[a-z0-9_+-]@(?:[a-z0-9][a-z0-9-]*\.)+[a-z]{2,}$/;

export const normalizeEmail = (text: string) => text.trim().toLowerCase();
export const isEmail = (text: string) => text.length <= 254 && emailForm.test(text);

export function readEmail(text: string): string {
  const plain = normalizeEmail(text);
  if (!isEmail(plain)) throw new Refusal("email", say("not_email_address"));
  return plain;
}
