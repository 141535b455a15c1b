// Checks a host and writes down what was found. Nothing is ever taken out of service by a check: somebody may be repairing
// the very thing.

import { dayMs, hourMs, minuteMs } from "../kernel/time.ts";
import type { Host } from "../sites/directory.ts";
import { isPublicName } from "../sites/hosts.ts";
import { type By, Refusal } from "../kernel/refusal.ts";
import { change, type SiteContext } from "../sites/manage.ts";
import type { CheckRow } from "../store/sites/hosts.ts";
import { checkHost, type Checked, type Checker } from "./check.ts";

export async function verifyHost(
  { store, directory, checker }: SiteContext & { checker: Checker },
  host: Host,
  by: By,
  now: () => number,
): Promise<Host> {
  // The answer would tell which names there are inside.
  if (!isPublicName(host.host))
    throw new Refusal("host", `${host.host} is a name inside a network, and is not checked.`);
  const checked = await checkHost(checker, host.host);
  const found = resultOf(host, checked, now());
  const isNews = host.verifiedAt === null && found.verifiedAt !== null;
  const detail = { host: host.host, by: checked.verifiedBy };
  const line = isNews ? change(host.siteId, "host verified", detail, by) : null;
  await store.hosts.saveCheck(host, found, line);
  await directory.refresh();
  // It may have been removed while it was looked at.
  return directory.host(host.host) ?? host;
}

export function resultOf(host: Host, { verifiedBy, finding, seen }: Checked, now: number): CheckRow {
  // That the DNS does not answer us says nothing about a host that was well an hour ago.
  if (finding === "lookup failed" && host.verifiedAt !== null)
    return { ...host, checkedAt: now, nextCheckAt: now + 10 * minuteMs };
  const verifiedAt = verifiedBy ? now : host.verifiedAt;
  return {
    verifiedAt,
    verifiedBy: verifiedBy ?? host.verifiedBy,
    checkedAt: now,
    finding,
    seen,
    failingSince: finding === null ? null : (host.failingSince ?? now),
    nextCheckAt: now + (verifiedAt === null ? timeoutMs(now - host.addedAt) : finding ? hourMs : dayMs),
  };
}

/** Who has just added a host waits for it; who added it last month does not. */
function timeoutMs(ageMs: number): number {
  if (ageMs < dayMs) return 10 * minuteMs;
  return ageMs < 7 * dayMs ? hourMs : dayMs;
}
