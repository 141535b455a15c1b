import { once } from "node:events";
import { connect } from "node:net";
import Fastify from "fastify";
import { expect, test } from "vitest";
import { createAdmission } from "../api/admission.ts";
import type { ApiContext } from "../api/context.ts";
import { createLoad } from "../inbound/load.ts";
import { mountMcp } from "./mount.ts";

test("half-sent messages of a key take a bounded memory, and the next ones are refused", async () => {
  const actor = { kind: "API key", id: "k", name: "k", scopes: ["read"], grants: [] };
  const context = {
    access: { actorOf: async () => actor },
    transport: { trusted: () => true, requireTls: false },
    now: Date.now,
  } as unknown as ApiContext;
  const defects: unknown[] = [];
  const app = Fastify();
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", (_request, _payload, done) => done(null));
  const admission = createAdmission({ members: createLoad(4), strangers: createLoad(4) });
  mountMcp(app, { isDashboardHost: () => true, context: () => context, admission, onDefect: (error) => defects.push(error) });
  const { hostname, port } = new URL(await app.listen({ host: "127.0.0.1", port: 0 }));
  const head = `POST /mcp HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Bearer k\r\nContent-Length: ${200 * 1024}\r\n\r\n`;
  const sockets = Array.from({ length: 20 }, () => connect(Number(port), hostname).on("error", () => {}));
  const answers = sockets.map((socket) => once(socket, "data").then(([data]) => String(data)));
  for (const socket of sockets) socket.write(head + "x".repeat(199 * 1024));
  expect(await Promise.race(answers)).toMatch(/^HTTP\/1.1 429 .*retry-after: 1\r\n/s);
  for (const socket of sockets) socket.destroy();
  expect(defects).toEqual([]);
  await app.close();
});
