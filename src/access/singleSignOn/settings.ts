// Reads the settings of single sign-on from their texts, and names the variable of a value that is wrong.

import type { PlatformRequest, PlatformResponse } from "../../platforms/platform.ts";

/** Sends a request to an address that is not ours: only to public addresses over HTTPS, unless the operator allows others. */
export type GuardedSend = (
  request: PlatformRequest,
) => Promise<{ ok: true; response: PlatformResponse } | { ok: false; error: string }>;

export type SingleSignOnSettings = {
  issuer: string;
  clientId: string;
  /** Null for a public client, which the provider identifies by PKCE alone. */
  clientSecret: string | null;
  /** The name on the button. */
  name: string;
  /** Email domains that may sign in; empty for all. Every person must be a member or invited in any case. */
  domains: readonly string[];
};

type SingleSignOnTexts = {
  issuer: string | undefined;
  clientId: string | undefined;
  clientSecret: string | undefined;
  name: string;
  domains: string | undefined;
  passwords: boolean;
};

export function readSingleSignOn(texts: SingleSignOnTexts, faults: string[]): SingleSignOnSettings | null {
  const { issuer, clientId, clientSecret, name, domains } = texts;
  if (issuer === undefined) {
    if (!texts.passwords)
      faults.push("CLEANCAST_PASSWORDS is off, and CLEANCAST_OIDC_ISSUER is not set: set it, so that people can sign in.");
    if (clientId !== undefined || clientSecret !== undefined)
      faults.push("CLEANCAST_OIDC_ISSUER is missing; single sign-on needs it with CLEANCAST_OIDC_CLIENT_ID.");
    return null;
  }
  if (!isIssuer(issuer)) faults.push(`CLEANCAST_OIDC_ISSUER is "${issuer}"; set it to a URL like https://login.example.com.`);
  if (clientId === undefined) faults.push("CLEANCAST_OIDC_CLIENT_ID is missing; the provider gives it to you for this relay.");
  return {
    issuer,
    clientId: clientId ?? "",
    clientSecret: clientSecret ?? null,
    name,
    domains: readDomains(domains, faults),
  };
}

const isIssuer = (text: string) =>
  URL.canParse(text) && /^https?:\/\/[^/?#@]+[^?#]*$/.test(text) && new URL(text).username === "";

function readDomains(text: string | undefined, faults: string[]): string[] {
  const domains = (text ?? "")
    .split(",")
    .map((one) => one.trim().toLowerCase())
    .filter((one) => one !== "");
  for (const domain of domains)
    if (!/^(?:[a-z0-9][a-z0-9-]*\.)+[a-z]{2,}$/.test(domain))
      faults.push(`CLEANCAST_OIDC_DOMAINS has "${domain}"; use domains like example.com.`);
  return domains;
}
