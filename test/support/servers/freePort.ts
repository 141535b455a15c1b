import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";

/**
 * Finds a free port below the range from which Linux takes ports for servers without a fixed one and for outgoing connections:
 * one of those could otherwise use the port before its server starts, or while it restarts. Browsers and `fetch` refuse 10080.
 */
export async function freePort(): Promise<number> {
  return tryPort(randomInt(10_100, 32_000)).catch(freePort);
}

async function tryPort(wanted: number): Promise<number> {
  const server = createServer().listen(wanted, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
