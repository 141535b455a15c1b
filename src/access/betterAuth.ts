// better-auth, as little of it as we use: passwords, sessions, authenticator apps. Loaded when the first person signs in,
// because a relay that only relays should not carry it.

import type { Store } from "../store/store.ts";
import { hashPassword, isPassword } from "./password.ts";

export type LibraryOptions = {
  store: Pick<Store, "accounts">;
  /** See `readAccessSecret` in store/maintenance/encryptionKeyCheck.ts. */
  secret: string;
  publicUrl: string;
  newId: () => string;
  onDefect: (error: unknown) => void;
};

export type Library = Awaited<ReturnType<typeof loadLibrary>>;

/** The header in which we tell it a caller's address; what a caller sends under this name never gets there. */
export const addressHeader = "x-cleancast-address";

export const sessionDays = 30;
const daySeconds = 86_400;

export async function loadLibrary(options: LibraryOptions) {
  const [{ betterAuth }, { createAuthEndpoint }, { twoFactor }, { accountAdapter }, { z }] =
    await Promise.all([
      import("better-auth/minimal"),
      import("better-auth/api"),
      import("better-auth/plugins/two-factor"),
      import("./adapter.ts"),
      import("zod"),
    ]);
  /** For a session that got another token. */
  const cookieFor = createAuthEndpoint.serverOnly(
    { method: "POST", body: z.object({ token: z.string() }) },
    async ({ context, body, setSignedCookie, json }) => {
      const { name, attributes } = context.authCookies.sessionToken;
      await setSignedCookie(name, body.token, context.secret, attributes);
      return json({});
    },
  );
  const auth = betterAuth({
    ...libraryOptions(options),
    database: accountAdapter(options.store, options.newId),
    plugins: [twoFactor(twoFactorOptions), { id: "cleancast", endpoints: { cookieFor } }],
  });
  await auth.$context;
  return auth;
}

/** Which of our columns is which of its fields. */
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

export const libraryOptions = ({ secret, publicUrl, onDefect }: Omit<LibraryOptions, "store" | "newId">) => ({
  appName: "Cleancast",
  baseURL: publicUrl,
  secret,
  telemetry: { enabled: false },
  logger: {
    level: "error" as const,
    // Its further words may hold an address or an email.
    log: (_level: string, message: string) => onDefect(new Error(`sign-in: ${message}`)),
  },
  // Our own limits stand before it: they are shared by all nodes.
  rateLimit: { enabled: false },
  emailAndPassword: {
    enabled: true,
    disableSignUp: true,
    minPasswordLength: 12,
    maxPasswordLength: 200,
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
    // Asked of the store at every request: a session that was ended has ended, on every node.
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
    // Under this name a browser takes a cookie from this very host alone, and not from its neighbours or over http.
    cookiePrefix: publicUrl.startsWith("https:") ? "__Host-cleancast" : "cleancast",
    defaultCookieAttributes: { secure: publicUrl.startsWith("https:") },
    // It would put another name in front.
    useSecureCookies: false,
    ipAddress: { ipAddressHeaders: [addressHeader] },
  },
});
