// Whose page is speaking? Only pages of the site itself, and of its subdomains, may write its visitors' data.

import type { Site } from "../sites/directory.ts";
import { hostOf } from "../sites/hosts.ts";

/** The Origin header of a request, when it is one of the site's own; null otherwise. */
export function ownOrigin(site: Site, header: string | undefined, isLoopback: boolean): string | null {
  if (!header || header.length > 300 || !URL.canParse(header)) return null;
  const url = new URL(header);
  // Plain http is a developer's machine talking to itself.
  if (url.protocol !== "https:" && !(url.protocol === "http:" && isLoopback)) return null;
  const host = hostOf(url.host);
  return site.hosts.some((own) => host === own || host.endsWith(`.${own}`)) ? url.origin : null;
}
