// A CDN's worker in front of a site forwards the first-party path to this relay. Its requests come from addresses that all
// customers of the CDN share, so a secret and not an address says who sent them. With the right one, host, address and scheme of
// the visitor are what the edge says; with a wrong one the request is refused.

import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { setForwardedByEdge, type TransportRules } from "./transport.ts";

/** `site` is a site's id or one of its hosts. */
export type EdgeSecret = { site: string; digest: Buffer };

const header = {
  secret: "x-cleancast-edge-secret",
  host: "x-cleancast-edge-host",
  address: "x-cleancast-edge-address",
  scheme: "x-cleancast-edge-proto",
} as const;

const digestOf = (text: string) => createHash("sha256").update(text).digest();

/** Parses `SITE=SECRET` entries. `fault` is the place of the first wrong one: the entry itself may hold a secret. */
export function parseEdgeSecrets(text: string): EdgeSecret[] | { fault: number } {
  const entries = text.split(/[\s,]+/).filter(Boolean);
  const parsed = entries.map((entry) => /^([\w.:-]{1,260})=([\w-]{32,200})$/.exec(entry));
  const wrong = parsed.indexOf(null);
  if (wrong >= 0) return { fault: wrong + 1 };
  return parsed.flatMap((match) =>
    match ? [{ site: (match[1] as string).toLowerCase(), digest: digestOf(match[2] as string) }] : [],
  );
}

type EdgeOptions = {
  secrets: readonly EdgeSecret[];
  transport: TransportRules;
  /** The id of the site that has this id, or this host. */
  siteIdOf: (name: string) => string | undefined;
};

/** Returns the status and text of a refusal; null for a request that goes on, as the visitor's where an edge sent it. */
export type Edge = (request: IncomingMessage) => { status: 400 | 403 | 404; text: string } | null;

export function createEdge({ secrets, transport, siteIdOf }: EdgeOptions): Edge {
  /** Compares with every secret, so that the time does not tell which one is near. */
  function sitesOf(given: string): Set<string> {
    const digest = digestOf(given);
    const found = secrets.filter((one) => timingSafeEqual(one.digest, digest)).map(({ site }) => siteIdOf(site));
    return new Set(found.filter((id) => id !== undefined));
  }

  return (request) => {
    const { headers } = request;
    const given = headers[header.secret];
    if (given === undefined) return null;
    const [host, address, scheme] = [header.host, header.address, header.scheme].map((name) => String(headers[name] ?? ""));
    const sites = sitesOf(String(given));
    // Nothing after this line may log or pass on the secret.
    for (const name of Object.values(header)) delete headers[name];
    if (sites.size === 0) return { status: 403, text: "Wrong edge secret." };
    if (!request.url?.startsWith("/__cc/")) return { status: 404, text: "Not found." };
    const siteId = siteIdOf((host ?? "").toLowerCase());
    if (siteId === undefined || !sites.has(siteId)) return { status: 403, text: "This edge secret is for another site." };
    if (!setForwardedByEdge(request, { address: address ?? "", isHttps: scheme === "https" }, transport))
      return { status: 400, text: "The edge must send the visitor's address in X-Cleancast-Edge-Address." };
    headers.host = host;
    return null;
  };
}
