// Minimal platforms that always accept: a process that listens on a port for each platform and answers after STUB_DELAY_MS with
// the platform's own body.

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { answerWith } from "./processes.ts";

/** Each body accepts a batch of any size. */
const bodies = {
  meta: '{"events_received":100000,"messages":[],"fbtrace_id":"AExample"}',
  tiktok: '{"code":0,"message":"OK","request_id":"example","data":{}}',
  segment: '{"success":true}',
  snapchat: '{"status":"VALID"}',
  ga4: "",
  x: '{"request":{"params":{}},"data":{"conversions_processed":100000,"debug_id":"example"}}',
} as const;
export type StubPlatform = keyof typeof bodies;
export type StubState = { ports: Record<StubPlatform, number>; requests: number };

if (process.send) {
  const delayMs = Number(process.env.STUB_DELAY_MS);
  const ports = {} as Record<StubPlatform, number>;
  let requests = 0;
  for (const platform of Object.keys(bodies) as StubPlatform[]) {
    const text = bodies[platform];
    const status = text ? 200 : 204;
    const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
      const answer = () => response.writeHead(status, { "content-type": "application/json" }).end(text);
      request.resume().on("end", () => {
        requests += 1;
        if (delayMs > 0) setTimeout(answer, delayMs);
        else answer();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", 1024, resolve));
    ports[platform] = (server.address() as AddressInfo).port;
  }
  answerWith((): StubState => ({ ports, requests }));
}
