// A peer on a bare socket, for platforms that do not keep to HTTP.

import { createServer, type AddressInfo, type Socket } from "node:net";
import { afterFile, takeAll } from "../support/afterFile.ts";

export type Peer = {
  url: string;
  /** The bodies that arrived, in order. */
  got: string[];
  /** Runs when a request has arrived completely. */
  behave: (socket: Socket) => void;
  /** Closes all connections and stops listening: new connections are refused. */
  leave(): Promise<void>;
  /** Listens again, on the same port. */
  comeBack(): Promise<void>;
};

export function answerOk(socket: Socket): void {
  socket.write("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}");
}

const peers = new Set<Peer>();

afterFile(async () => {
  for (const peer of takeAll(peers)) await peer.leave();
});

export async function startPeer(): Promise<Peer> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    // Connection resets are expected here.
    socket.on("error", () => {});
    let text = "";
    socket.setEncoding("latin1").on("data", (part: string) => {
      text += part;
      for (let end = requestEnd(text); end > 0; end = requestEnd(text)) {
        peer.got.push(text.slice(text.indexOf("\r\n\r\n") + 4, end));
        text = text.slice(end);
        peer.behave(socket);
      }
    });
  });
  let port = 0;
  const listen = () => new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  await listen();
  port = (server.address() as AddressInfo).port;
  const peer: Peer = {
    url: `http://127.0.0.1:${port}`,
    got: [],
    behave: answerOk,
    async leave() {
      for (const socket of sockets) socket.destroy();
      if (server.listening) await new Promise((resolve) => server.close(resolve));
    },
    comeBack: listen,
  };
  peers.add(peer);
  return peer;
}

/** The end of the first request in `text`; 0 while it is incomplete. */
function requestEnd(text: string): number {
  const head = text.indexOf("\r\n\r\n");
  if (head < 0) return 0;
  const length = Number(/content-length: (\d+)/i.exec(text.slice(0, head))?.[1] ?? 0);
  return text.length >= head + 4 + length ? head + 4 + length : 0;
}
