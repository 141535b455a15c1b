// Host names: how they are written, and which of them can belong to a site.

import { isIP } from "node:net";
import { domainToASCII } from "node:url";

/** `Shop.Example.com:8443` → `shop.example.com`; `[::1]:80` → `::1`. Empty when there is none. */
export function hostOf(header: string | undefined): string {
  if (!header || header.length > 300) return "";
  const bracketed = /^\[([^\]]+)\](?::\d+)?$/.exec(header);
  if (bracketed) return (bracketed[1] as string).toLowerCase();
  return header.replace(/:\d*$/, "").replace(/\.+$/, "").toLowerCase();
}

/** An IP literal or a loopback name says nothing about the site: there the key names it. */
export function namesNoSite(host: string): boolean {
  return host === "" || host === "localhost" || host.endsWith(".localhost") || isIP(host) !== 0;
}

/** The host as it will arrive in requests, or null when it cannot be one. */
export function readHost(text: string): string | null {
  const host = domainToASCII(text.trim().replace(/\.$/, "")).toLowerCase();
  const labels = host.split(".");
  const legal = labels.every((label) => /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/.test(label));
  return legal && host.length <= 253 && !isIP(host) ? host : null;
}
