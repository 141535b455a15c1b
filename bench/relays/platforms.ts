// Three platforms that accept and remember what arrived: how often each order, and under how many event ids. `down` makes one of them
// answer 503 for a while.

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { answerWith } from "../support/processes.ts";

/** The forms of Meta, TikTok and Segment; the other programs send Meta's to all three. */
const answers = [
  // Each accepts a batch of any size.
  '{"events_received":100000,"messages":[],"fbtrace_id":"AExample"}',
  '{"code":0,"message":"OK","request_id":"example","data":{}}',
  '{"success":true}',
];

type Sent = {
  event_id?: string;
  messageId?: string;
  custom_data?: { order_id: string };
  properties?: { order_id: string };
};

export type Order = "ports" | "forget" | "arrivals" | { down: number; ms: number };
export type Arrivals = {
  /** Of each platform. */
  ports: number[];
  /** Order id to how often each platform accepted it, and under how many event ids. */
  orders: Record<string, { times: number[]; ids: number[] }>;
  /** Pairs of order and platform that have arrived. */
  arrived: number;
};

if (process.send) {
  const orders = new Map<string, { times: number[]; ids: Set<string>[] }>();
  const downUntil = [0, 0, 0];
  let arrived = 0;
  const ports = await Promise.all(
    answers.map(async (text, platform) => {
      const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
        const parts: Buffer[] = [];
        request.on("data", (part: Buffer) => parts.push(part));
        request.on("end", () => {
          const isDown = (downUntil[platform] ?? 0) > Date.now();
          // The relay also asks platforms who they are, without a body.
          if (!isDown && parts.length > 0) remember(platform, Buffer.concat(parts).toString());
          response.writeHead(isDown ? 503 : 200, { "content-type": "application/json" }).end(isDown ? "{}" : text);
        });
      });
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", 1024, resolve));
      return (server.address() as AddressInfo).port;
    }),
  );
  answerWith((order: Order): Arrivals => {
    if (order === "forget") {
      orders.clear();
      arrived = 0;
    }
    if (typeof order === "object") downUntil[order.down] = Date.now() + order.ms;
    const all = order === "arrivals" ? [...orders] : [];
    return {
      ports,
      arrived,
      orders: Object.fromEntries(all.map(([id, { times, ids }]) => [id, { times, ids: ids.map(({ size }) => size) }])),
    };
  });

  function remember(platform: number, text: string): void {
    const { data, batch } = JSON.parse(text) as { data?: Sent[]; batch?: Sent[] };
    for (const { event_id, messageId, custom_data, properties } of data ?? batch ?? []) {
      const orderId = (custom_data ?? properties)?.order_id ?? "none";
      let known = orders.get(orderId);
      if (!known) orders.set(orderId, (known = { times: [0, 0, 0], ids: [new Set(), new Set(), new Set()] }));
      if (known.times[platform] === 0) arrived += 1;
      known.times[platform] = (known.times[platform] ?? 0) + 1;
      known.ids[platform]?.add(event_id ?? messageId ?? "none");
    }
  }
}
