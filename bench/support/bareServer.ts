// A bare Node server that parses the same JSON, sends one pooled request to each of BARE_TARGETS, and answers in the same form:
// the baseline of the report. It has no keys, checks, store or batches.

import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { Pool } from "undici";
import { countAllocations, type AllocationOrder } from "./allocations.ts";
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

  async function send(pool: Pool): Promise<{ ok: boolean }> {
    const { statusCode, body } = await pool.request({
      path: "/v1/events",
      method: "POST",
      headers,
      body: outgoing,
    });
    await body.text();
    return { ok: statusCode < 300 };
  }

  const server = createServer((request, response) => {
    void bodyOf(request).then(async (text) => {
      const { event } = JSON.parse(text) as { event: string };
      const results = Object.fromEntries((await Promise.all(pools.map(send))).map((result, i) => [`platform${i}`, result]));
      response.setHeader("content-type", "application/json; charset=utf-8");
      response.end(JSON.stringify({ ok: true, event, results }));
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
