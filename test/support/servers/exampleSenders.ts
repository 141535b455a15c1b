// Runs the example senders of docs/examples in processes of their own, and servers in place of the relay for their failures.

import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterFile, takeAll } from "../afterFile.ts";

export const examples = fileURLToPath(new URL("../../../docs/examples", import.meta.url));

const started = new Set<ChildProcess>();
const servers = new Set<Server>();

afterFile(async () => {
  for (const child of takeAll(started)) {
    const exited = once(child, "exit");
    if (child.kill("SIGKILL")) await exited;
  }
  for (const server of takeAll(servers)) server.close();
});

/** Starts an example that receives webhooks, and returns its address. */
export async function startExampleSender(name: string, env: Record<string, string>): Promise<string> {
  const child = spawn(process.execPath, [join(examples, name)], {
    env: { PORT: "0", ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  started.add(child);
  const ended = once(child, "exit").then(() => Promise.reject(new Error(`${name} ended`)));
  ended.catch(() => {});
  const [output] = (await Promise.race([once(child.stdout.setEncoding("utf8"), "data"), ended])) as [string];
  return `http://127.0.0.1:${/listening on (\d+)/.exec(output)?.[1]}`;
}

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

/** Starts a server in place of a service that an example asks. */
export async function startServer(step: Step): Promise<string> {
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
