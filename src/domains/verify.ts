// Checks a host and stores the result. A check never takes a host out of service: the problem may be under repair.

import { dayMs, hourMs, minuteMs } from "../kernel/time.ts";
import type { Host } from "../sites/directory.ts";
import { isPublicName } from "../sites/hosts.ts";
import { say } from "../kernel/messages/message.ts";
import { type By, Refusal } from "../kernel/refusal.ts";
import { auditLine, type SiteContext } from "../sites/manage.ts";
import type { CheckRow } from "../store/sites/hosts.ts";
import { checkHost, type CheckResult, type Checker } from "./check.ts";

export async function verifyHost(
  { store, directory, checker }: SiteContext & { checker: Checker },
  host: Host,
  by: By,
  now: () => number,
): Promise<Host> {
  // The result would reveal which internal names exist.
  if (!isPublicName(host.host)) throw new Refusal("host", say("internal_host_unchecked", { host: host.host }));
  const checked = await checkHost(checker, host.host);
  const found = resultOf(host, checked, now());
  const isFirstProof = host.verifiedAt === null && found.verifiedAt !== null;
  const detail = { host: host.host, by: checked.verifiedBy };
  const line = isFirstProof ? auditLine(host.siteId, "host verified", detail, by) : null;
  await store.hosts.saveCheck(host, found, line);
  await directory.refresh();
  // The host may have been removed during the check.
  return directory.host(host.host) ?? host;
}

function resultOf(host: Host, { verifiedBy, finding, seen }: CheckResult, now: number): CheckRow {
  // A DNS failure on our side is no evidence against a host that worked an hour ago.
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
    nextCheckAt: now + (verifiedAt === null ? retryMs(now - host.addedAt) : finding ? hourMs : dayMs),
  };
}

/** A person who has just added a host waits for it; one who added it last month does not. */
function retryMs(ageMs: number): number {
  if (ageMs < dayMs) return 10 * minuteMs;
  return ageMs < 7 * dayMs ? hourMs : dayMs;
}
