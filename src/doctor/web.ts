// The way from outside: CLEANCAST_URL and every host are asked as a sender would.

import type { Config } from "../installation/config.ts";
import { guardedLookup } from "../delivery/addresses.ts";
import { relayOf } from "../domains/checker.ts";
import { openNames } from "../domains/names.ts";
import { hostOf, namesNoSite } from "../sites/hosts.ts";
import { probeInbound, type ProbeResult } from "./ask.ts";
import { dayMs, error, note, ok, warning, type Finding, type StoreContext } from "./finding.ts";

const atOnce = 8;
const maxHosts = 200;
const soonMs = 14 * dayMs;
const skewMs = 5_000;

export type Probe = (origin: string) => Promise<ProbeResult>;

export async function checkWeb(
  { config, directory }: StoreContext,
  ask: Probe = askerOf(config),
): Promise<Finding[]> {
  const relay = relayOf(config);
  const origins = config.hasUrl ? [config.publicUrl] : [];
  const served = Array.from(directory.sites()).flatMap(({ servedHosts }) => servedHosts);
  const hosts = served.filter((host) => !namesNoSite(host) && host !== relay?.host).slice(0, maxHosts);
  // On the port that checks use: that of CLEANCAST_URL.
  const port = relay?.port ? `:${relay.port}` : "";
  origins.push(...hosts.map((host) => `https://${host}${port}`));

  const asked = new Map<string, ProbeResult>();
  const left = origins.values();
  const work = async () => {
    for (const origin of left) asked.set(origin, await ask(origin));
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  // Without a network every name would be to blame.
  const all = [...asked.values()];
  if (all.length > 0 && all.every((one) => !one.ok && one.code === "EAI_AGAIN"))
    return [
      note("names cannot be resolved from here", "The checks of addresses and certificates were left out."),
    ];
  return origins.flatMap((origin) => judgeProbe(origin, asked.get(origin) as ProbeResult, Date.now()));
}

/** As checks of hosts do: by the same DNS, and into no private network. The relay's own name is the operator's. */
function askerOf({ publicUrl, allowPrivate, dnsServers }: Config): Probe {
  const own = hostOf(new URL(publicUrl).host);
  const allow = { ...allowPrivate, hosts: new Set([...allowPrivate.hosts, own]) };
  const { resolve } = openNames(dnsServers);
  const guarded = { lookup: guardedLookup(allow, true, resolve) };
  // No DNS server knows localhost.
  return (origin) => probeInbound(origin, namesNoSite(hostOf(new URL(origin).host)) ? {} : guarded);
}

export function judgeProbe(origin: string, asked: ProbeResult, now: number): Finding[] {
  const { host } = new URL(origin);
  if (!asked.ok) return [unreachable(host, asked.code)];
  const findings = [answered(origin, host, asked)];
  const { certificateEndsAt, at } = asked;
  if (certificateEndsAt !== null && certificateEndsAt - now < soonMs) {
    const days = Math.floor((certificateEndsAt - now) / dayMs);
    findings.push(
      warning(
        `${host}: the certificate ends in ${days} days`,
        "See why it was not renewed: a month is usual.",
      ),
    );
  }
  if (at !== null && Math.abs(now - at) > skewMs)
    findings.push(
      warning(
        `${host}: the clock there and the one here differ by ${Math.round(Math.abs(now - at) / 1000)} seconds`,
        "Keep the machines' clocks right (systemd-timesyncd, chrony): platforms refuse events from the future.",
      ),
    );
  return findings;
}

function answered(
  origin: string,
  host: string,
  { status, error: said }: Extract<ProbeResult, { ok: true }>,
): Finding {
  if (status === 426 && origin.startsWith("https:"))
    return error(
      `${host}: the relay does not see that requests come over HTTPS, and answers 426`,
      "Let the proxy set X-Forwarded-Proto, and list the proxy's address in CLEANCAST_TRUST_PROXY.",
    );
  if (status === 426)
    return error(`${host}: plain HTTP is refused with 426`, "Let the address begin with https://.");
  // Inbound may be off there, which is said elsewhere.
  if ((status === 401 || status === 403) && said !== null) return ok(`${host}: the relay answers`);
  if (status >= 502 && status <= 504 && said === null)
    return error(
      `${host}: a proxy answers ${status}`,
      "The relay behind it does not run, or not where the proxy looks for it.",
    );
  return error(
    `${host}: something else than Cleancast answers (${status})`,
    "Let the proxy pass /__cc/ on to the relay, with the Host header as it came.",
  );
}

const dns = new Set(["ENOTFOUND", "EAI_AGAIN", "ENODATA", "ESERVFAIL", "EREFUSED", "ETIMEOUT"]);
const certificates = /^(?:CERT_|DEPTH_|SELF_|UNABLE_|ERR_TLS_CERT|HOSTNAME_|ERR_SSL|EPROTO)/;

function unreachable(host: string, code: string): Finding {
  if (dns.has(code))
    return warning(`${host}: the name does not resolve`, "Add a CNAME or an address for it at the DNS.");
  if (code === "EPRIVATE")
    return warning(
      `${host}: the name leads to a private address, and is not called`,
      "Let it lead to a public one. Inside your own network: CLEANCAST_ALLOW_PRIVATE opens it, CLEANCAST_DNS asks another DNS.",
    );
  if (code === "CERT_HAS_EXPIRED")
    return error(`${host}: the certificate has expired`, "Renew it; browsers and senders turn away.");
  if (certificates.test(code))
    return error(
      `${host}: the certificate is not valid there (${code})`,
      "It must name this host, and come with its whole chain.",
    );
  return error(
    `${host}: cannot be reached (${code})`,
    "Look at the firewall, the proxy, and whether the relay runs.",
  );
}
