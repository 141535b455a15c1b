// Whose page is speaking? Only pages of the site itself, and of its subdomains, may write its visitors' data.

import type { IncomingHttpHeaders } from "node:http";
import type { Site } from "../sites/directory.ts";
import { hostOf } from "../sites/hosts.ts";

/** The origin of the page behind a request, when it is one of the site's own; null otherwise. */
export function ownOrigin(site: Site, headers: IncomingHttpHeaders, isLoopback: boolean): string | null {
  const { origin = "null" } = headers;
  // Under `Referrer-Policy: no-referrer` a browser hides even the page's own origin from beacons. It still says that the
  // page is of this very host, in a header that no script can set.
  if (origin === "null")
    return headers["sec-fetch-site"] === "same-origin" ? `https://${headers.host}` : null;
  if (origin.length > 300 || !URL.canParse(origin)) return null;
  const url = new URL(origin);
  // Plain http is a developer's machine talking to itself.
  if (url.protocol !== "https:" && !(url.protocol === "http:" && isLoopback)) return null;
  const host = hostOf(url.host);
  return site.servedHosts.some((own) => host === own || host.endsWith(`.${own}`)) ? url.origin : null;
}
