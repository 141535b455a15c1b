// An HTTP server for tests that records its requests and answers as the test decides.

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterFile, takeAll } from "./afterFile.ts";

export type ReceivedRequest = {
  method: string;
  path: string;
  headers: IncomingMessage["headers"];
  text: string;
  body: Buffer;
  at: number;
};

export type Receiver = {
  url: string;
  got: ReceivedRequest[];
  /** Answers a request; 200 with `{}` unless changed. */
  behave: (request: ReceivedRequest, response: ServerResponse) => void;
  /** The JSON bodies received, in order. */
  bodies(): Record<string, unknown>[];
  close(): Promise<void>;
};

const open = new Set<Receiver>();

afterFile(async () => {
  for (const receiver of takeAll(open)) await receiver.close();
});

export async function startReceiver(): Promise<Receiver> {
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const body = Buffer.concat(parts);
      const got = {
        method: request.method ?? "",
        path: request.url ?? "",
        headers: request.headers,
        text: body.toString(),
        body,
        at: Date.now(),
      };
      receiver.got.push(got);
      receiver.behave(got, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    got: [],
    behave: (_request, response) => response.writeHead(200, { "content-type": "application/json" }).end("{}"),
    bodies: () => receiver.got.map((one) => JSON.parse(one.text) as Record<string, unknown>),
    async close() {
      open.delete(receiver);
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  open.add(receiver);
  return receiver;
}
