// How people sign in at a platform, declared; delivery/oauth/tokens.ts and the dashboard's sign-in do the rest.

import { tokenCheck } from "./eventBody.ts";
import type { ConnectionSettings, Setting } from "../platform.ts";

export type OAuth2 = {
  /** Where people agree, and where codes and refresh tokens are exchanged. */
  authorizeUrl: string;
  tokenUrl: string;
  scopes: readonly string[];
  scopeSeparator?: " " | ",";
  pkce: boolean;
  /** Where the operator's client id and secret stand in a token request. */
  clientAuth: "body" | "basic";
  /** How a token request is written. */
  tokenBody?: "form" | "json";
  /** Where this platform has other names than OAuth: `client_id`, `client_secret`, `code`, `access_token` … */
  names?: Readonly<Record<string, string>>;
  /** More parameters of the page where people agree, and of token requests. */
  authorizeParams?: Readonly<Record<string, string>>;
  tokenParams?: Readonly<Record<string, string>>;
  /** The object in a token answer that holds the token, where it is not the answer itself. */
  tokenIn?: string;
  /** A refresh gives a new refresh token, keeps the old one, or there is none. */
  refresh: "rotates" | "keeps" | "none";
  /**
   * Where a short-lived token is exchanged for a long-lived one right after sign-in. In the parameters {client_id},
   * {client_secret} and {access_token} stand for what they say.
   */
  exchange?: { url: string; params: Readonly<Record<string, string>> };
};

/** When the token of a sign-in ends. Alone for platforms that renew none. */
export const expirySetting = {
  name: "expires_at",
  label: "Access token ends",
  help: "When the access token ends, in milliseconds since 1970; comes with signing in.",
  check: (value: string) => (/^\d{10,16}$/.test(value) ? null : "must be a time in milliseconds"),
} as const satisfies Setting;

/** The settings that a sign-in fills, and that a pasted token may stand in for. */
export const tokenSettings = [
  {
    name: "refresh_token",
    label: "Refresh token",
    help: "Comes with signing in; with it access tokens are renewed before they end.",
    secret: true,
    check: tokenCheck,
  },
  expirySetting,
] as const satisfies readonly Setting[];

/** `Authorization: Bearer …` from the connection's access token. */
export function bearer(settings: ConnectionSettings): Record<string, string> {
  return { authorization: `Bearer ${settings.access_token ?? ""}` };
}
