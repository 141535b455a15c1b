// Settings of the installation that work, and are still a mistake.

import type { AllowList } from "../delivery/addresses.ts";
import { namesNoSite } from "../sites/hosts.ts";
import { error, note, warning, type Finding, type StoreContext, type DoctorContext } from "./finding.ts";

export function checkSettings({ config }: DoctorContext): Finding[] {
  const findings: Finding[] = [];
  const wide = widest(config.allowPrivate);
  if (wide)
    findings.push(
      error(
        `CLEANCAST_ALLOW_PRIVATE opens ${wide}, where a cloud's machines find their own secrets`,
        "List the hosts or networks that are really meant: customers choose addresses, and these are then reachable.",
      ),
    );
  const replaced = Object.entries(config.platformOrigins);
  if (replaced.length)
    findings.push(
      warning(
        `CLEANCAST_PLATFORM_ORIGINS sends ${replaced.map(([platform, origin]) => `${platform} to ${origin}`).join(", ")}`,
        "Right for an egress proxy, and for the demo. Otherwise take it out: nothing reaches the platforms themselves.",
      ),
    );
  if (config.maxInFlight < 64)
    findings.push(
      warning(
        `CLEANCAST_MAX_IN_FLIGHT is ${config.maxInFlight}: more at once get 503`,
        "Take it out, or set it to some thousands.",
      ),
    );
  if (config.logLevel === "silent" || config.logLevel === "error")
    findings.push(
      note(`LOG_LEVEL is ${config.logLevel}: there is no line per event`, "Set LOG_LEVEL=info to have them."),
    );
  return findings;
}

export function checkUrl({ config, directory }: StoreContext): Finding[] {
  const isPublic = Array.from(directory.sites()).some((site) =>
    site.hosts.some((host) => !namesNoSite(host)),
  );
  if (!config.hasUrl)
    return isPublic
      ? [
          warning(
            "CLEANCAST_URL is not set: links in mails and sign-in at platforms lead to localhost",
            "Set it to the address of this relay, like https://cc.example.com.",
          ),
        ]
      : [];
  const { protocol, hostname } = new URL(config.publicUrl);
  if (protocol === "http:" && !namesNoSite(hostname))
    return [
      error(
        `CLEANCAST_URL is ${config.publicUrl}: passwords and sessions travel unencrypted`,
        "Put a proxy with TLS in front, and set CLEANCAST_URL to its https address.",
      ),
    ];
  return [];
}

/** What an allow list must never hold as a whole: everything, or the addresses of cloud metadata. */
function widest({ networks }: AllowList): string | null {
  for (const [network, bits] of networks) {
    const isIpv4 = network.kind() === "ipv4";
    const text = `${network.toString()}/${bits}`;
    if (bits < (isIpv4 ? 8 : 16)) return text;
    if (isIpv4 && network.toString().startsWith("169.254.")) return text;
  }
  return null;
}
