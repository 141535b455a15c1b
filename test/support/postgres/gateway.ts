// A TCP proxy to a PostgreSQL server that behaves as networks and firewalls do: it is slow, closed or silent, or answers with
// an error of the server.

import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterFile, takeAll } from "../afterFile.ts";

export type Gateway = {
  /** Name and port, for a URL. */
  host: string;
  /** The treatment of new connections; a code is the error that the server sends before it hangs up. */
  mode: "open" | "closed" | "silent" | { code: string };
  /** The delay in each direction. */
  delayMs: number;
  /** Ends all open connections. */
  cut(): void;
};

const closings = new Set<() => void>();
afterFile(() => takeAll(closings).forEach((close) => close()));

export async function createGateway(serverUrl: string, mode: Gateway["mode"] = "open"): Promise<Gateway> {
  const { hostname, port } = new URL(serverUrl);
  const sockets = new Set<Socket>();
  const server = createServer((inside) => {
    track(inside);
    if (gateway.mode === "closed") return void inside.destroy();
    if (typeof gateway.mode === "object") {
      const { code } = gateway.mode;
      return void inside.once("data", () => inside.end(refusal(code)));
    }
    const outside = track(connect(Number(port), hostname));
    forward(inside, outside);
    forward(outside, inside);
  });

  function track(socket: Socket): Socket {
    sockets.add(socket);
    socket.on("error", () => {}).on("close", () => sockets.delete(socket));
    return socket;
  }

  function forward(from: Socket, to: Socket): void {
    async function pass(bytes: Buffer): Promise<void> {
      if (gateway.delayMs) await sleep(gateway.delayMs);
      if (gateway.mode !== "silent") to.write(bytes);
    }
    from.on("data", (bytes) => void pass(bytes));
    from.on("close", () => to.destroy());
  }

  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const gateway: Gateway = {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    mode,
    delayMs: 0,
    cut: () => sockets.forEach((socket) => socket.destroy()),
  };
  closings.add(() => {
    server.close();
    gateway.cut();
  });
  return gateway;
}

/** PostgreSQL's ErrorResponse. */
function refusal(code: string): Buffer {
  const fields = Buffer.from(`SFATAL\0VFATAL\0C${code}\0Mthis gateway refuses connections\0\0`);
  const head = Buffer.alloc(5);
  head.write("E");
  head.writeInt32BE(fields.length + 4, 1);
  return Buffer.concat([head, fields]);
}
