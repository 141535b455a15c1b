// The file with the list of networks: a line of JSON (where it comes from, who the owners are), then the boundaries of IPv4
// and of IPv6. Each boundary is two numbers, seven bits a byte: how far it is from the last one, and whose it begins. The
// owner is the same up to the next boundary; owner 0 is nobody. IPv4 counts addresses, IPv6 counts /48 networks: they are
// the smallest that are routed, and 48 bits fit into a double. scripts/networks/main.ts writes it.

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { packageFolder } from "../../kernel/packageFolder.ts";

export type Network = {
  /**
   * `relay` says that people are behind it, whatever else is. `crawler` is the own network of a company that crawls: its
   * staff and its browsers' proxies are there as well, so it proves nothing but that a crawler is no fake.
   */
  kind: "hosting" | "relay" | "crawler";
  /** The owner, for example "Amazon Web Services". */
  name: string;
};

export type Boundaries = { starts: Uint32Array | Float64Array; owners: Uint16Array };

export type NetworkList = {
  /** The day of the table that the list was made from. */
  date: string;
  source: string;
  attribution: string;
  ipv4: Boundaries;
  ipv6: Boundaries;
  /** Place 0 is nobody. */
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
    const next = numbersIn(bytes, headerEnd + 1);
    const { date, source, attribution, owners } = header;
    const ipv4 = readBoundaries(new Uint32Array(header.ipv4), owners.length, next);
    const ipv6 = readBoundaries(new Float64Array(header.ipv6), owners.length, next);
    const named = owners.map(([kind, name]): Network => Object.freeze({ kind, name }));
    return { date, source, attribution, ipv4, ipv6, owners: [null, ...named] };
  } catch (error) {
    const why = error instanceof SyntaxError ? "it is no such list" : (error as Error).message;
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
  for (let place = 0; place < starts.length; place++) {
    start += next();
    starts[place] = start;
    const owner = next();
    if (owner > known) throw new Error("it names an owner that it does not list");
    owners[place] = owner;
  }
  return { starts, owners };
}

/** Multiplies where others shift: the numbers of IPv6 have more than 32 bits. */
function numbersIn(bytes: Buffer, from: number): () => number {
  let at = from;
  return () => {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = bytes[at++];
      if (byte === undefined) throw new Error("its end is missing");
      value += (byte % 128) * scale;
      if (byte < 128) return value;
    }
  };
}
