// Checks settings of the installation that are valid, but probably a mistake.

import type { AllowList } from "../delivery/addresses.ts";
import { describeUnknown } from "../installation/config.ts";
import { namesNoSite } from "../sites/hosts.ts";
import { error, note, warning, type Findings, type StoreContext, type DoctorContext } from "./finding.ts";

export function* checkSettings({ config }: DoctorContext): Findings {
  for (const { what, remedy } of config.unknownVariables.map(describeUnknown)) yield warning(what, remedy);
  const wide = findWideNetwork(config.allowPrivate);
  if (wide)
    yield error(
      `CLEANCAST_ALLOW_PRIVATE allows ${wide}, which includes cloud metadata services with secrets`,
      "List only the hosts or networks that you need: customers choose addresses, and can reach everything listed.",
    );
  if (config.plainNetworks !== null)
    yield note(
      `CLEANCAST_ALLOW_HTTP_FROM accepts plain HTTP from ${config.plainNetworks}: whoever can listen there reads passwords and keys`,
      "This is correct for a container on your own computer. For customers and colleagues set up HTTPS, and remove it.",
    );
  const replaced = Object.entries(config.platformOrigins);
  if (replaced.length)
    yield warning(
      `CLEANCAST_PLATFORM_ORIGINS sends ${replaced.map(([platform, origin]) => `${platform} to ${origin}`).join(", ")}`,
      "This is correct for an egress proxy and for the demo. Otherwise remove it: nothing reaches the platforms themselves.",
    );
  if (config.maxInFlight < 64)
    yield warning(
      `CLEANCAST_MAX_IN_FLIGHT is ${config.maxInFlight}: further concurrent requests get 503`,
      "Remove it, or set it to several thousand.",
    );
  if (config.logLevel === "silent" || config.logLevel === "error")
    yield note(`LOG_LEVEL is ${config.logLevel}: events are not logged`, "Set LOG_LEVEL=info for a line per event.");
}

export function* checkUrl({ config, directory }: StoreContext): Findings {
  const isPublic = Array.from(directory.sites()).some((site) => site.hosts.some((host) => !namesNoSite(host)));
  if (!config.hasUrl && isPublic)
    yield warning(
      "CLEANCAST_URL is not set: links in emails and sign-ins at platforms lead to localhost",
      "Set it to the address of this relay, like https://cc.example.com.",
    );
  if (!config.hasUrl) return;
  const { protocol, hostname } = new URL(config.publicUrl);
  if (protocol === "http:" && !namesNoSite(hostname))
    yield error(
      `CLEANCAST_URL is ${config.publicUrl}: passwords and sessions travel unencrypted`,
      "Put a proxy with TLS in front, and set CLEANCAST_URL to its https address.",
    );
}

/** Finds a network that an allow list must never hold: nearly everything, or the addresses of cloud metadata. */
function findWideNetwork({ networks }: AllowList): string | null {
  for (const [network, bits] of networks) {
    const isIpv4 = network.kind() === "ipv4";
    const text = `${network.toString()}/${bits}`;
    if (bits < (isIpv4 ? 8 : 16)) return text;
    if (isIpv4 && network.toString().startsWith("169.254.")) return text;
  }
  return null;
}
