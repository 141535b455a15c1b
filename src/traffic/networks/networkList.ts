// Reads the list of networks: a line of JSON (source, owners), then the boundaries of IPv4 and of IPv6. Each boundary is two
// numbers, seven bits a byte: the distance from the previous one, and the owner from here to the next. Owner 0 is none. IPv4
// counts addresses, IPv6 counts /48 networks: they are the smallest that are routed, and 48 bits fit into a double.
// scripts/networks/main.ts writes the list.

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { packageFolder } from "../../kernel/packageFolder.ts";

export type Network = {
  /**
   * `relay` carries people, whatever else it carries. `crawler` is the network of a company that crawls: it also has staff
   * and proxies of browsers, so it proves only that a crawler is genuine.
   */
  kind: "hosting" | "relay" | "crawler";
  /** The owner, for example "Amazon Web Services". */
  name: string;
};

export type Boundaries = { starts: Uint32Array | Float64Array; owners: Uint16Array };

export type NetworkList = {
  /** The day of the source table. */
  date: string;
  source: string;
  attribution: string;
  ipv4: Boundaries;
  ipv6: Boundaries;
  /** Index 0 is no owner. */
  owners: readonly (Network | null)[];
};

export const shippedList = fileURLToPath(new URL("src/traffic/networks/data/networks.bin", packageFolder));
export const listFormat = "cleancast networks 1";

export type ListHeader = {
  format: string;
  source: string;
  date: string;
  attribution: string;
  ipv4: number;
  ipv6: number;
  owners: [kind: Network["kind"], name: string][];
};

export function readNetworkList(file: string): NetworkList {
  try {
    const bytes = readFileSync(file);
    const headerEnd = bytes.indexOf("\n");
    const header = JSON.parse(bytes.toString("utf8", 0, Math.max(headerEnd, 0))) as ListHeader;
    if (header.format !== listFormat) throw new Error(`its format is not "${listFormat}"`);
    const next = readNumbers(bytes, headerEnd + 1);
    const { date, source, attribution, owners } = header;
    const ipv4 = readBoundaries(new Uint32Array(header.ipv4), owners.length, next);
    const ipv6 = readBoundaries(new Float64Array(header.ipv6), owners.length, next);
    const named = owners.map(([kind, name]): Network => Object.freeze({ kind, name }));
    return { date, source, attribution, ipv4, ipv6, owners: [null, ...named] };
  } catch (error) {
    const why = error instanceof SyntaxError ? "it is not a list of networks" : (error as Error).message;
    throw new Error(
      `The list of networks ${file} cannot be used: ${why}. Make it again with scripts/networks/main.ts, or leave the ` +
        "setting out to use the list that comes with Cleancast.",
      { cause: error },
    );
  }
}

function readBoundaries(starts: Boundaries["starts"], known: number, next: () => number): Boundaries {
  const owners = new Uint16Array(starts.length);
  let start = 0;
  for (let index = 0; index < starts.length; index++) {
    start += next();
    starts[index] = start;
    const owner = next();
    if (owner > known) throw new Error("it refers to an unknown owner");
    owners[index] = owner;
  }
  return { starts, owners };
}

/** Multiplies instead of shifting: the numbers of IPv6 have more than 32 bits. */
function readNumbers(bytes: Buffer, from: number): () => number {
  let at = from;
  return () => {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = bytes[at++];
      if (byte === undefined) throw new Error("it is truncated");
      value += (byte % 128) * scale;
      if (byte < 128) return value;
    }
  };
}
