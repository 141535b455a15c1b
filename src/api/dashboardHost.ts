// On which names the dashboard and the management API are: on the relay's own, never on a customer's.

import type { IncomingMessage } from "node:http";
import type { Checker } from "../domains/check.ts";
import { wasForwarded } from "../http/transport.ts";
import type { Directory } from "../sites/directory.ts";
import { hostOf, isProven, readHost } from "../sites/hosts.ts";
import { Refusal } from "../kernel/refusal.ts";

const wellFormed = /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d+)?$/i;
const loopback = new Set(["localhost", "127.0.0.1", "::1"]);

/** At home where CLEANCAST_URL says (`url`); without one, on every name that is not a customer's. */
export function isAtHome(request: IncomingMessage, directory: Directory, url: string | null): boolean {
  const header = request.headers.host ?? "";
  if (!wellFormed.test(header)) return false;
  const host = hostOf(header);
  if (url !== null && host === hostOf(new URL(url).host)) return true;
  // A proxy that does not pass the name on says localhost for every name.
  if (loopback.has(host)) return url === null || !wasForwarded(request);
  const known = directory.host(host);
  // A name that somebody only claims is not a customer's yet, or they could shut the dashboard.
  return url === null && !(known && isProven(known));
}

/** A site that took the dashboard's own name would shut everybody out. */
export function checkNotHome(text: string, request: IncomingMessage, publicUrl: string): void {
  // As it would be kept: there are many ways to write one name.
  const host = readHost(text) ?? "";
  const own = [hostOf(request.headers.host), hostOf(new URL(publicUrl).host)].filter(
    (name) => !loopback.has(name),
  );
  if (own.includes(host))
    throw new Refusal(
      "host",
      "This is the name under which the dashboard is reached; it cannot be a site's.",
    );
}

/** A relay that does not know its own name would find that it leads here, and give it to whoever claims it. */
export function checkKnowsItself(relay: Checker["relay"]): void {
  if (relay === null)
    throw new Refusal(
      "host",
      "This relay does not know its own name yet. Whoever runs it sets CLEANCAST_URL, or adds the host for you.",
    );
}
