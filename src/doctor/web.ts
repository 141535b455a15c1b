// Checks CLEANCAST_URL and every host from outside, with a request as a sender would make it.

import type { Config } from "../installation/config.ts";
import { guardedLookup } from "../delivery/addresses.ts";
import { relayOf } from "../domains/checker.ts";
import { createDns } from "../domains/dns.ts";
import { hostOf, namesNoSite } from "../sites/hosts.ts";
import { probeInbound, type ProbeResult } from "./probe.ts";
import { forEachConcurrently } from "../kernel/concurrency.ts";
import { countOf } from "../kernel/text.ts";
import { dayMs } from "../kernel/time.ts";
import { lateRenewal } from "./files.ts";
import { error, note, ok, soonMs, warning, type Finding, type StoreContext } from "./finding.ts";

const concurrency = 8;
const maxHosts = 200;
const maxSkewMs = 5_000;

type Probe = (origin: string) => Promise<ProbeResult>;

export async function checkWeb({ config, directory }: StoreContext, probe: Probe = createProbe(config)): Promise<Finding[]> {
  const relay = relayOf(config);
  const origins = config.hasUrl ? [config.publicUrl] : [];
  const served = Array.from(directory.sites()).flatMap(({ servedHosts }) => servedHosts);
  const hosts = served.filter((host) => !namesNoSite(host) && host !== relay?.host).slice(0, maxHosts);
  // Checks of hosts use the port of CLEANCAST_URL too.
  const port = relay?.port ? `:${relay.port}` : "";
  origins.push(...hosts.map((host) => `https://${host}${port}`));

  const results = new Map<string, ProbeResult>();
  await forEachConcurrently(origins, concurrency, async (origin) => {
    results.set(origin, await probe(origin));
  });
  // Without a network every name would be reported.
  const all = [...results.values()];
  if (all.length > 0 && all.every((one) => !one.ok && one.code === "EAI_AGAIN"))
    return [note("DNS does not work on this machine", "Checks of addresses and certificates were skipped.")];
  return origins.flatMap((origin) => judgeProbe(origin, results.get(origin) as ProbeResult, Date.now()));
}

/** Uses the same DNS as the checks of hosts, and calls no private address except that of the relay's own name. */
function createProbe({ publicUrl, allowPrivate, dnsServers }: Config): Probe {
  const own = hostOf(new URL(publicUrl).host);
  const allow = { ...allowPrivate, hosts: new Set([...allowPrivate.hosts, own]) };
  const { resolve } = createDns(dnsServers);
  const guarded = { lookup: guardedLookup(allow, true, resolve) };
  // No DNS server knows localhost.
  return (origin) => probeInbound(origin, namesNoSite(hostOf(new URL(origin).host)) ? {} : guarded);
}

export function judgeProbe(origin: string, result: ProbeResult, now: number): Finding[] {
  const { host } = new URL(origin);
  if (!result.ok) return [judgeFailure(host, result.code)];
  const findings = [judgeAnswer(origin, host, result)];
  const { certificateExpiresAt, at } = result;
  if (certificateExpiresAt !== null && certificateExpiresAt - now < soonMs) {
    const days = Math.floor((certificateExpiresAt - now) / dayMs);
    findings.push(warning(`${host}: the certificate expires in ${countOf(days, "day")}`, lateRenewal));
  }
  if (at !== null && Math.abs(now - at) > maxSkewMs)
    findings.push(
      warning(
        `${host}: its clock and this machine's differ by ${Math.round(Math.abs(now - at) / 1000)} seconds`,
        "Synchronize the clocks (systemd-timesyncd, chrony): platforms reject events from the future.",
      ),
    );
  return findings;
}

function judgeAnswer(origin: string, host: string, { status, error: message }: Extract<ProbeResult, { ok: true }>): Finding {
  if (status === 426 && origin.startsWith("https:"))
    return error(
      `${host}: the relay does not recognize HTTPS requests, and answers 426`,
      "The proxy must set X-Forwarded-Proto, and its address must be in CLEANCAST_TRUST_PROXY.",
    );
  if (status === 426) return error(`${host}: plain HTTP is refused with 426`, "Use an https:// address.");
  // Inbound may be off there; another check reports that.
  if ((status === 401 || status === 403) && message !== null) return ok(`${host}: the relay answers`);
  if (status >= 502 && status <= 504 && message === null)
    return error(`${host}: a proxy answers ${status}`, "The relay is not running, or not at the address that the proxy uses.");
  return error(
    `${host}: another server than Cleancast answers (${status})`,
    "The proxy must forward /__cc/ to the relay, with the original Host header.",
  );
}

const dnsErrors = new Set(["ENOTFOUND", "EAI_AGAIN"]);
const certificateErrors = /^(?:CERT_|DEPTH_|SELF_|UNABLE_|ERR_TLS_CERT|HOSTNAME_|ERR_SSL|EPROTO)/;

function judgeFailure(host: string, code: string): Finding {
  if (dnsErrors.has(code))
    return warning(`${host}: the name does not resolve`, "Add a CNAME or an address record for it to the DNS.");
  if (code === "EPRIVATE")
    return warning(
      `${host}: the name resolves to a private address, and was not called`,
      "Point it to a public address. Inside your own network: allow it with CLEANCAST_ALLOW_PRIVATE, or set another DNS server with CLEANCAST_DNS.",
    );
  if (code === "CERT_HAS_EXPIRED")
    return error(`${host}: the certificate has expired`, "Renew it: browsers and senders refuse the connection.");
  if (certificateErrors.test(code))
    return error(`${host}: the certificate is not valid (${code})`, "It must include this host name and its full chain.");
  return error(`${host}: cannot be reached (${code})`, "Check the firewall, the proxy, and that the relay is running.");
}
