// Servers in place of the relay, for the failures that the example senders of docs/examples meet.

import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { afterFile, takeAll } from "../afterFile.ts";

export const examples = fileURLToPath(new URL("../../../docs/examples", import.meta.url));

const servers = new Set<Server>();

afterFile(() => {
  for (const server of takeAll(servers)) server.close();
});

type Step = (request: IncomingMessage, response: ServerResponse) => void;

/** Starts a server in place of the relay: each step answers one request, and the last step answers the rest. */
export async function startFakeRelay(...steps: Step[]): Promise<{ url: string; asked: { at: number; path: string }[] }> {
  const asked: { at: number; path: string }[] = [];
  const url = await startServer((request, response) => {
    request.resume();
    asked.push({ at: performance.now(), path: request.url ?? "" });
    (steps[asked.length - 1] ?? steps.at(-1))?.(request, response);
  });
  return { url: `${url}/__cc/inbound`, asked };
}

async function startServer(step: Step): Promise<string> {
  const server = createServer(step);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  servers.add(server);
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

export const empty200: Step = (_, response) => void response.writeHead(200).end();
export const hangUp: Step = (request) => void request.socket.destroy();
export const busy: Step = (_, response) => void response.writeHead(503).end("busy");
export const acceptedOnce: Step = (_, response) =>
  void response.writeHead(200).end('{"ok":true,"event":"purchase","results":{}}');
export const elsewhere: Step = (_, response) => void response.writeHead(302, { Location: "/elsewhere" }).end();
