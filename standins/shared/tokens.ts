// The access and refresh tokens of a stand-in. They expire by the clock; tests can also expire or revoke all of them.

import { randomBytes } from "node:crypto";

export type TokenState = "valid" | "expired" | "revoked" | "unknown";

type Access = {
  state: Exclude<TokenState, "unknown">;
  scopes: readonly string[];
  expiresAt: number;
  grant: string;
};
type Refresh = { revoked: boolean; scopes: readonly string[]; expiresAt: number; grant: string };

export type Tokens = {
  state(token: string | null): TokenState;
  /** True when the token has this scope. Tokens created in the platform's own pages have every scope. */
  allows(token: string | null, scope: string): boolean;
  /** `grant` is the sign-in that tokens came from: revoking it revokes all of them. */
  issueAccess(scopes: readonly string[], seconds: number, grant: string): string;
  issueRefresh(scopes: readonly string[], seconds: number, grant: string): string;
  useRefresh(token: string): { scopes: readonly string[]; grant: string } | null;
  /** The refresh token was replaced by a newer one. */
  dropRefresh(token: string): void;
  revokeGrant(grant: string): void;
  /** Revokes an access or refresh token; false when it is unknown. */
  revoke(token: string): boolean;
  /** Expires every access token; refresh tokens stay valid. */
  expireAll(): void;
  /** Revokes all access and refresh tokens. */
  revokeAll(): void;
};

export function createTokens(
  seeded: readonly { token: string; state: Exclude<TokenState, "unknown">; scopes?: readonly string[] }[],
  now: () => number,
): Tokens {
  const everything = ["*"];
  const access = new Map<string, Access>(
    seeded.map(({ token, state, scopes }) => [token, { state, scopes: scopes ?? everything, expiresAt: Infinity, grant: token }]),
  );
  const refresh = new Map<string, Refresh>();
  const make = (kind: string) => `${kind}_${randomBytes(24).toString("base64url")}`;

  const state = (token: string | null): TokenState => {
    const found = token === null ? undefined : access.get(token);
    if (!found) return "unknown";
    return found.state === "valid" && found.expiresAt <= now() ? "expired" : found.state;
  };
  const revokeGrant = (grant: string) => {
    for (const one of access.values()) if (one.grant === grant) one.state = "revoked";
    for (const one of refresh.values()) if (one.grant === grant) one.revoked = true;
  };

  return {
    state,
    allows(token, scope) {
      const scopes = access.get(token ?? "")?.scopes ?? [];
      return scopes === everything || scopes.includes(scope);
    },
    issueAccess(scopes, seconds, grant) {
      const token = make("access");
      access.set(token, { state: "valid", scopes, expiresAt: now() + seconds * 1000, grant });
      return token;
    },
    issueRefresh(scopes, seconds, grant) {
      const token = make("refresh");
      refresh.set(token, { revoked: false, scopes, expiresAt: now() + seconds * 1000, grant });
      return token;
    },
    useRefresh(token) {
      const found = refresh.get(token);
      return found && !found.revoked && found.expiresAt > now() ? { scopes: found.scopes, grant: found.grant } : null;
    },
    dropRefresh: (token) => void refresh.delete(token),
    revokeGrant,
    revoke(token) {
      const grant = access.get(token)?.grant ?? refresh.get(token)?.grant;
      if (grant !== undefined) revokeGrant(grant);
      return grant !== undefined;
    },
    expireAll() {
      for (const one of access.values()) if (one.state === "valid") one.state = "expired";
    },
    revokeAll() {
      for (const one of access.values()) one.state = "revoked";
      for (const one of refresh.values()) one.revoked = true;
    },
  };
}
