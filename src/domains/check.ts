// Checks whether a host points here: by the DNS, which works before there is a certificate, and by a request to the host that
// must arrive here, which also works where another server passes only /__cc/ on.

import type { Sender, Sent } from "../delivery/send.ts";
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
  /** The first one answers challenges; while the encryption key is changed, another node may still use another. */
  secrets: () => readonly Buffer[];
  /** The relay's own name and port, from CLEANCAST_URL; null where it has none. */
  relay: { host: string; port: string } | null;
  /** Limits the checks that run at the same time in this process. */
  limit: ConcurrencyLimit<Host>;
};

type Failure = { finding: FindingCode; seen: string | null };

export async function checkHost(
  { dns, sender, secrets, relay }: Checker,
  host: string,
): Promise<CheckResult> {
  const addresses = await dns.addresses(host);
  if (addresses === "none") return { verifiedBy: null, finding: "not found", seen: null };
  if (addresses === "unknown") return { verifiedBy: null, finding: "lookup failed", seen: null };
  const [byDns, failure] = await Promise.all([
    relay ? pointsTo(dns, host, addresses, relay.host) : false,
    probe(sender, secrets(), host, relay?.port ?? ""),
  ]);
  if (!failure) return { verifiedBy: "a request", finding: null, seen: null };
  if (byDns) return { verifiedBy: "DNS", ...failure };
  // The addresses are shown only where another server answers.
  const isElsewhere = failure.finding === "not us" || failure.finding === "no connection";
  const where = addresses.slice(0, 3).join(", ");
  return {
    verifiedBy: null,
    ...failure,
    seen: isElsewhere ? [where, failure.seen].join(" ").trim() : failure.seen,
  };
}

async function pointsTo(
  dns: Dns,
  host: string,
  addresses: readonly string[],
  relay: string,
): Promise<boolean> {
  if ((await dns.aliases(host)).includes(relay)) return true;
  // A bare domain cannot be an alias; it has the relay's addresses instead.
  const own = await dns.addresses(relay);
  return typeof own !== "string" && addresses.every((address) => own.includes(address));
}

async function probe(
  sender: Sender,
  secrets: readonly Buffer[],
  host: string,
  port: string,
): Promise<Failure | null> {
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
  if (!sent.ok) return readSendFailure(sent);
  const { status, body } = sent.response;
  const arrival = status === 200 ? readAnswer(secrets, challenge, body) : null;
  if (arrival === null) return { finding: "not us", seen: `(HTTP ${status})` };
  if (arrival === "not ours") return { finding: "other installation", seen: null };
  if (hostOf(arrival.host) !== host) return { finding: "host header", seen: hostOf(arrival.host) };
  return arrival.https ? null : { finding: "not secure", seen: null };
}

/** Maps the sender's error texts to findings. */
const findingsByError: readonly (readonly [RegExp, FindingCode])[] = [
  [/^the certificate|CERT|ERR_SSL|ERR_TLS|EPROTO/, "certificate"],
  [/^no answer within|^no connection in time/, "too slow"],
  [/^host name not found/, "not found"],
  [/^host name could not/, "lookup failed"],
];

function readSendFailure({ blocked, error }: Extract<Sent, { ok: false }>): Failure {
  if (blocked) return { finding: "private address", seen: null };
  const finding = findingsByError.find(([form]) => form.test(error))?.[1] ?? "no connection";
  return { finding, seen: error.startsWith("the certificate") ? error : null };
}
