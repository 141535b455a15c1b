// Starts a real DNS server: it resolves the given names, and answers NXDOMAIN for all others.

import { createSocket, type RemoteInfo } from "node:dgram";
import { once } from "node:events";
import { isIPv4 } from "node:net";
import ipaddr from "ipaddr.js";

/** By name: an address, the target of a CNAME, SERVFAIL, or no answer until `answerHeld`. */
export type Records = Record<string, { address: string } | { alias: string } | "broken" | "silent">;

const types = { A: 1, CNAME: 5, AAAA: 28 } as const;
const encoded = (name: string) =>
  Buffer.concat([
    ...name.split(".").map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label)])),
    Buffer.from([0]),
  ]);

function record(name: string, type: number, data: Buffer): Buffer {
  const fixed = Buffer.alloc(10);
  fixed.writeUInt16BE(type, 0);
  fixed.writeUInt16BE(1, 2);
  fixed.writeUInt32BE(1, 4);
  fixed.writeUInt16BE(data.length, 8);
  return Buffer.concat([encoded(name), fixed, data]);
}

type DnsServer = {
  address: string;
  /** The names of all A queries, in their order. */
  asked: string[];
  /** Answers the queries for names that were silent and have other records now. */
  answerHeld: () => void;
  close: () => void;
};

/** Starts a server; `records` may be changed while it runs. */
export async function startDns(records: Records): Promise<DnsServer> {
  const socket = createSocket("udp4");
  const asked: string[] = [];
  const held: (() => void)[] = [];
  function onQuery(query: Buffer, peer: RemoteInfo): void {
    const labels: string[] = [];
    let at = 12;
    for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
      labels.push(query.toString("latin1", at + 1, at + 1 + length));
      at += length + 1;
    }
    const question = query.subarray(12, at + 5);
    const type = query.readUInt16BE(at + 1);
    const name = labels.join(".").toLowerCase();
    if (type === types.A) asked.push(name);
    if (records[name] === "silent") return void held.push(() => onQuery(query, peer));
    const answers: Buffer[] = [];
    for (let next: string | undefined = name; next !== undefined;) {
      const known: Records[string] | undefined = records[next];
      const owner = next;
      next = undefined;
      if (!known || known === "broken" || known === "silent") continue;
      if ("alias" in known) {
        answers.push(record(owner, types.CNAME, encoded(known.alias)));
        if (type !== types.CNAME) next = known.alias;
      } else if (type === (isIPv4(known.address) ? types.A : types.AAAA)) {
        answers.push(record(owner, type, Buffer.from(ipaddr.parse(known.address).toByteArray())));
      }
    }
    const head = Buffer.alloc(12);
    head.writeUInt16BE(query.readUInt16BE(0), 0);
    const isBroken = records[name] === "broken";
    head.writeUInt16BE(isBroken ? 0x8182 : records[name] ? 0x8180 : 0x8183, 2);
    head.writeUInt16BE(1, 4);
    head.writeUInt16BE(answers.length, 6);
    socket.send(Buffer.concat([head, question, ...answers]), peer.port, peer.address);
  }
  socket.on("message", onQuery);
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  return {
    address: `127.0.0.1:${socket.address().port}`,
    asked,
    answerHeld() {
      for (const answer of held.splice(0)) answer();
    },
    close: () => void socket.close(),
  };
}
