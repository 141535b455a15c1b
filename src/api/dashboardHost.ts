// The dashboard and the management API are served on the relay's own host, never on a customer's.

import type { IncomingMessage } from "node:http";
import type { Checker } from "../domains/check.ts";
import { wasForwarded } from "../http/transport.ts";
import type { Directory } from "../sites/directory.ts";
import { hostOf, isVerified, readHost } from "../sites/hosts.ts";
import { say } from "../kernel/messages/message.ts";
import { Refusal } from "../kernel/refusal.ts";

const wellFormed = /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d+)?$/i;
const loopback = new Set(["localhost", "127.0.0.1", "::1"]);

/** True on the host of CLEANCAST_URL (`url`); without one, on every host that is not a customer's. */
export function isDashboardHost(request: IncomingMessage, directory: Directory, url: string | null): boolean {
  const header = request.headers.host ?? "";
  if (!wellFormed.test(header)) return false;
  const host = hostOf(header);
  if (url !== null && host === hostOf(new URL(url).host)) return true;
  // A proxy that does not forward the Host header sends localhost for every name.
  if (loopback.has(host)) return url === null || !wasForwarded(request);
  const known = directory.host(host);
  // A host that is only claimed is not a customer's yet; otherwise a claim could take the dashboard down.
  return url === null && !(known && isVerified(known));
}

/** A site on the dashboard's own host would lock everyone out of the dashboard. The operator of the server may do so. */
export function refuseDashboardHost(text: string, requestHost: string | null, publicUrl: string): void {
  if (requestHost === null) return;
  // Compares the normalised form: one name can be written in several ways.
  const host = readHost(text) ?? "";
  const own = [hostOf(requestHost), hostOf(new URL(publicUrl).host)].filter((name) => !loopback.has(name));
  if (own.includes(host)) throw new Refusal("host", say("dashboard_domain"));
}

/** Without its own name the relay could not tell a customer's host from the dashboard's, and would let anyone claim it. */
export function requireRelayName(relay: Checker["relay"]): void {
  if (relay === null) throw new Refusal("host", say("own_url_unknown"));
}
