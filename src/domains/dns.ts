// DueWork names up in the DNS. The operator may configure the servers: inside a network a name often resolves to another
// address than outside, and browsers come from outside.

import { lookup, Resolver } from "node:dns/promises";
import { isIP } from "node:net";
import type { Resolve } from "../delivery/addresses.ts";
import { errorCode } from "../kernel/errorCode.ts";

export type Dns = {
  /** All addresses; "none" where the name has none, "unknown" where the lookup failed. */
  addresses(host: string): Promise<readonly string[] | "none" | "unknown">;
  /** The chain of CNAME targets. */
  aliases(host: string): Promise<string[]>;
  /** For connections, so that they use the checked addresses; the system's resolver where undefined. */
  resolve: Resolve | undefined;
};

const maxChain = 5;
const noSuchName = new Set(["ENOTFOUND", "ENODATA", "EAI_NONAME", "EAI_NODATA"]);

export function createDns(servers: readonly string[]): Dns {
  const resolver = new Resolver({ timeout: 1000, tries: 2 });
  if (servers.length) resolver.setServers(servers);

  /** Rejects as a lookup of the system would. */
  async function resolved(host: string): Promise<string[]> {
    const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    const found = answers.flatMap((one) => (one.status === "fulfilled" ? one.value : []));
    if (found.length) return found;
    const faults = answers.flatMap((one) => (one.status === "rejected" ? [one.reason] : []));
    throw faults.find((one) => !noSuchName.has(errorCode(one))) ?? faults[0];
  }

  const all = async (host: string) =>
    servers.length ? resolved(host) : (await lookup(host, { all: true })).map(({ address }) => address);

  return {
    async addresses(host) {
      try {
        return await all(host);
      } catch (error) {
        return noSuchName.has(errorCode(error)) ? "none" : "unknown";
      }
    },

    async aliases(host) {
      const chain: string[] = [];
      for (let name: string | undefined = host; name && chain.length < maxChain;) {
        const [next]: string[] = await resolver.resolveCname(name).catch(() => []);
        if (next) chain.push(next.toLowerCase().replace(/\.$/, ""));
        name = next;
      }
      return chain;
    },

    resolve: servers.length
      ? (host, _options, found) => {
          resolved(host).then(
            (addresses) =>
              found(
                null,
                addresses.map((address) => ({ address, family: isIP(address) })),
              ),
            (error: Error) => found(error, []),
          );
        }
      : undefined,
  };
}

/** Reads `1.1.1.1, [2606:4700::1111]:53`; the fault is the first entry that is not an address. */
export function readDnsServers(text: string): string[] | { fault: string } {
  const servers = text
    .split(",")
    .map((one) => one.trim())
    .filter(Boolean);
  for (const server of servers) {
    const bare = server.replace(/^\[(.+)\](?::\d+)?$/, "$1");
    if (!isIP(bare) && !isIP(server.replace(/:\d+$/, ""))) return { fault: server };
  }
  return servers;
}
