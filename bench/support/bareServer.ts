// A bare Node server that parses the same JSON, sends one pooled request to each of BARE_TARGETS, and answers in the same form:
// the baseline of the report. It has no keys, checks, store or batches. With BARE_FILE it is the durable floor: it hashes, and stores
// each event and its outcomes in that file.

import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { Pool } from "undici";
import { countAllocations, type AllocationOrder } from "./allocations.ts";
import { openFloor, type FloorEvent } from "./durableFloor.ts";
import { answerWith } from "./processes.ts";

/** The usual size of an event for a platform. */
const outgoing = JSON.stringify({
  data: [
    {
      event_name: "Purchase",
      event_time: 1_794_648_600,
      event_id: "0b2c7a52-3c1f-8e11-a5d0-6f1de2a7c901",
      user_data: Object.fromEntries(["em", "ph", "fn", "ln"].map((name) => [name, "e".repeat(64)])),
      custom_data: { value: 49.9, currency: "EUR", order_id: "A-1001" },
      client_user_agent: "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0",
    },
  ],
});

if (process.send) {
  const targets = JSON.parse(process.env.BARE_TARGETS ?? "[]") as string[];
  // A larger pool costs more CPU: 7 % for 256 senders without a limit.
  const pools = targets.map((origin) => new Pool(origin, { connections: 128, pipelining: 1 }));
  const headers = { "content-type": "application/json", authorization: "Bearer EAAexample" };

  async function send(pool: Pool, sent: string): Promise<{ ok: boolean }> {
    const { statusCode, body } = await pool.request({
      path: "/v1/events",
      method: "POST",
      headers,
      body: sent,
    });
    await body.text();
    return { ok: statusCode < 300 };
  }
  const sendToAll = async (sent: string) =>
    Object.fromEntries((await Promise.all(pools.map((pool) => send(pool, sent)))).map((result, i) => [`platform${i}`, result]));

  const floor = process.env.BARE_FILE ? openFloor(process.env.BARE_FILE) : null;
  async function answerTo(event: FloorEvent): Promise<object> {
    if (!floor) return { ok: true, event: event.event, results: await sendToAll(outgoing) };
    const stored = await floor.accept(event);
    if (stored.isDuplicate) return { ok: true, deduped: true };
    const results = await sendToAll(stored.outgoing);
    if (pools.length > 0) floor.settle(stored.id, results);
    return { ok: true, event: event.event, results };
  }

  const server = createServer((request, response) => {
    void bodyOf(request).then(async (text) => {
      const answer = await answerTo(JSON.parse(text) as FloorEvent);
      response.setHeader("content-type", "application/json; charset=utf-8");
      response.end(JSON.stringify(answer));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", 1024, resolve));
  const { port } = server.address() as AddressInfo;
  answerWith((question: "port" | AllocationOrder) => (question === "port" ? { port } : countAllocations(question)));
}

function bodyOf(request: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => resolve(Buffer.concat(parts).toString()));
    request.on("error", reject);
  });
}
