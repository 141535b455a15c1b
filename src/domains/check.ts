// Checks whether a host points to this relay, in two ways: by DNS, which works before the host has a certificate, and by a
// request to the host that must arrive here, which also works behind a proxy that forwards only /__cc/.

import type { Sender, SendFailure } from "../delivery/send.ts";
import type { Host } from "../sites/directory.ts";
import { hostOf } from "../sites/hosts.ts";
import type { FindingCode } from "../sites/hostProblems.ts";
import type { Dns } from "./dns.ts";
import { newChallenge, probePath, readAnswer } from "./probe.ts";
import type { ConcurrencyLimit } from "./concurrencyLimit.ts";

export type CheckResult = {
  verifiedBy: "DNS" | "a request" | null;
  finding: FindingCode | null;
  /** The addresses, name or status that the check found in place of the expected ones. */
  seen: string | null;
};

export type Checker = {
  dns: Dns;
  sender: Sender;
  /**
   * This node answers challenges with the first. While the encryption key is being changed, other nodes may answer with the
   * second, so both are accepted.
   */
  secrets: () => readonly Buffer[];
  /** The relay's own name and port, from CLEANCAST_URL; null where it has none. */
  relay: { host: string; port: string } | null;
  /** Limits the checks that run at the same time in this process. */
  limit: ConcurrencyLimit<Host>;
};

type Failure = { finding: FindingCode; seen: string | null };

export async function checkHost({ dns, sender, secrets, relay }: Checker, host: string): Promise<CheckResult> {
  const addresses = await dns.addresses(host);
  if (addresses === "none") return { verifiedBy: null, finding: "not found", seen: null };
  if (addresses === "unknown") return { verifiedBy: null, finding: "lookup failed", seen: null };
  const [byDns, failure] = await Promise.all([
    relay ? pointsTo(dns, host, addresses, relay.host) : false,
    probe(sender, secrets(), host, relay?.port ?? ""),
  ]);
  if (!failure) return { verifiedBy: "a request", finding: null, seen: null };
  if (byDns) return { verifiedBy: "DNS", ...failure };
  // The addresses help only where the host leads to another server, or to none.
  const isElsewhere = failure.finding === "not us" || failure.finding === "no connection";
  const where = addresses.slice(0, 3).join(", ");
  return {
    verifiedBy: null,
    ...failure,
    seen: isElsewhere ? [where, failure.seen].join(" ").trim() : failure.seen,
  };
}

async function pointsTo(dns: Dns, host: string, addresses: readonly string[], relay: string): Promise<boolean> {
  if ((await dns.aliases(host)).includes(relay)) return true;
  // A bare domain cannot be an alias; it has the relay's addresses instead.
  const own = await dns.addresses(relay);
  return typeof own !== "string" && addresses.every((address) => own.includes(address));
}

async function probe(sender: Sender, secrets: readonly Buffer[], host: string, port: string): Promise<Failure | null> {
  const challenge = newChallenge();
  const sent = await sender.send(
    {
      method: "GET",
      url: `https://${host}${port ? `:${port}` : ""}${probePath}?challenge=${challenge}`,
      // A reused connection would hide a certificate that has changed.
      headers: { accept: "application/json", connection: "close" },
      body: "",
    },
    { platform: "", customerAddress: true },
  );
  if (!sent.ok) return { finding: findings[sent.code], seen: sent.code === "certificate" ? sent.error : null };
  const { status, body } = sent.response;
  const arrival = status === 200 ? readAnswer(secrets, challenge, body) : null;
  if (arrival === null) return { finding: "not us", seen: `(HTTP ${status})` };
  if (arrival === "not ours") return { finding: "other installation", seen: null };
  if (hostOf(arrival.host) !== host) return { finding: "host header", seen: hostOf(arrival.host) };
  return arrival.https ? null : { finding: "not secure", seen: null };
}

const findings: Readonly<Record<SendFailure["code"], FindingCode>> = {
  blocked: "private address",
  certificate: "certificate",
  TLS: "certificate",
  timeout: "too slow",
  "not found": "not found",
  "lookup failed": "lookup failed",
  other: "no connection",
};
