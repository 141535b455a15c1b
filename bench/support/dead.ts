// Platforms that are down, each in its own way: one takes a request and never answers, one says 503, one takes no
// connection. A process of its own, so that nobody who is measured does its work.

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { answerWith } from "./processes.ts";

export type Dead = { urls: string[] };

if (process.send) {
  const listen = async (server: ReturnType<typeof createServer>): Promise<string> => {
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };
  const gone = createServer();
  const urls = [
    await listen(createServer((got) => void got.resume())),
    await listen(
      createServer((got, answer) => void got.resume().on("end", () => answer.writeHead(503).end())),
    ),
    await listen(gone),
  ];
  await new Promise((resolve) => gone.close(resolve));
  answerWith((): Dead => ({ urls }));
}
