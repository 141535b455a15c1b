// Three platforms that are down: one accepts requests and never answers, one answers 503, one refuses connections. They run in
// their own process, so that their CPU is not counted.

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { answerWith } from "./processes.ts";

export type FailingPlatforms = { urls: string[] };

if (process.send) {
  const listen = async (server: ReturnType<typeof createServer>): Promise<string> => {
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };
  const gone = createServer();
  const urls = [
    await listen(createServer((got) => void got.resume())),
    await listen(createServer((got, answer) => void got.resume().on("end", () => answer.writeHead(503).end()))),
    await listen(gone),
  ];
  await new Promise((resolve) => gone.close(resolve));
  answerWith((): FailingPlatforms => ({ urls }));
}
