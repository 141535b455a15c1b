import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";

/** Finds a port of this machine that is free at the moment. */
export function freePort(): Promise<number> {
  return tryPort(0);
}

/**
 * Finds a free port below the range from which Linux takes ports for outgoing connections: one of those could otherwise use
 * the port while its server restarts.
 */
export async function freePortForRestarts(): Promise<number> {
  return tryPort(randomInt(10_000, 32_000)).catch(freePortForRestarts);
}

async function tryPort(wanted: number): Promise<number> {
  const server = createServer().listen(wanted, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
