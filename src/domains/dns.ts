// Looks names up in the DNS. The operator may configure the servers: inside a network a name often resolves to another
// address than outside, and browsers come from outside.

import { isIP } from "node:net";
import { createResolve, newResolver, resolveHost, type Resolve } from "../delivery/addresses.ts";
import { errorCode } from "../kernel/errorCode.ts";

export type Dns = {
  /** All addresses; "none" where the name has none, "unknown" where the lookup failed. */
  addresses(host: string): Promise<readonly string[] | "none" | "unknown">;
  /** The chain of CNAME targets. */
  aliases(host: string): Promise<string[]>;
  /** For connections, so that they use the checked addresses. */
  resolve: Resolve;
};

const maxChain = 5;

export function createDns(servers: readonly string[]): Dns {
  const resolve = servers.length > 0 ? createResolve({ servers }) : resolveHost;
  return {
    resolve,

    async addresses(host) {
      try {
        return await resolve(host);
      } catch (error) {
        return errorCode(error) === "ENOTFOUND" ? "none" : "unknown";
      }
    },

    async aliases(host) {
      const resolver = newResolver(servers);
      const chain: string[] = [];
      for (let name: string | undefined = host; name && chain.length < maxChain;) {
        const [next]: string[] = await resolver.resolveCname(name).catch(() => []);
        if (next) chain.push(next.toLowerCase().replace(/\.$/, ""));
        name = next;
      }
      return chain;
    },
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
